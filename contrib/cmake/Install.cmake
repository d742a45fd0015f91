# What `cmake --install` puts in place besides the programs: manual pages, configuration, systemd
# files. Units name the programs where they were installed. An existing configuration stays.
file(GLOB gillnet_man_pages CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/contrib/man/*.[1-8]")
foreach(page ${gillnet_man_pages})
  string(REGEX MATCH "[1-8]$" section "${page}")
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()

install(FILES README.md CHANGELOG.md conf/gillnet.conf conf/gillnet.conf.minimal
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY conf/feeds.d DESTINATION /etc/gillnet) # ready-made feeds, all off
install(CODE "
  set(target \"\$ENV{DESTDIR}/etc/gillnet/gillnet.conf\")
  if(EXISTS \"\${target}\")
    message(STATUS \"Kept: \${target}\")
  else()
    file(INSTALL \"${CMAKE_SOURCE_DIR}/conf/gillnet.conf\" DESTINATION /etc/gillnet)
  endif()
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}/etc/gillnet/conf.d\")")

file(READ systemd/gillnetd.service unit)
string(REPLACE "/usr/sbin/gillnetd" "${CMAKE_INSTALL_FULL_SBINDIR}/gillnetd" unit "${unit}")
string(REPLACE "/usr/bin/gillnet" "${CMAKE_INSTALL_FULL_BINDIR}/gillnet" unit "${unit}")
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/systemd/gillnetd.service" CONTENT "${unit}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS systemd/gillnetd.service)
install(FILES "${CMAKE_BINARY_DIR}/systemd/gillnetd.service" DESTINATION lib/systemd/system)
file(READ systemd/gillnet-hub.service unit)
string(REPLACE "/usr/libexec/gillnet" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/gillnet" unit "${unit}")
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/systemd/gillnet-hub.service" CONTENT "${unit}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS systemd/gillnet-hub.service)
install(FILES "${CMAKE_BINARY_DIR}/systemd/gillnet-hub.service" DESTINATION lib/systemd/system)
install(FILES systemd/gillnetd-inet.conf DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES systemd/gillnet.sysusers DESTINATION lib/sysusers.d RENAME gillnet.conf)
install(FILES systemd/gillnet.tmpfiles DESTINATION lib/tmpfiles.d RENAME gillnet.conf)
