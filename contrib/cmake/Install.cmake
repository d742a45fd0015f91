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

# The prefix is that of the installation (cmake --install --prefix), not of the configuration: a package
# is made of any build.
foreach(unit gillnetd gillnet-hub)
  install(CODE "
    file(READ \"${CMAKE_SOURCE_DIR}/systemd/${unit}.service\" text)
    foreach(place sbin/gillnetd bin/gillnet libexec/gillnet)
      string(REPLACE \"/usr/\${place}\" \"\${CMAKE_INSTALL_PREFIX}/\${place}\" text \"\${text}\")
    endforeach()
    set(made \"${CMAKE_BINARY_DIR}/systemd/${unit}.service\")
    file(WRITE \"\${made}\" \"\${text}\")
    file(INSTALL \"\${made}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")")
endforeach()
install(FILES systemd/gillnetd-inet.conf DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES systemd/gillnet.sysusers DESTINATION lib/sysusers.d RENAME gillnet.conf)
install(FILES systemd/gillnet.tmpfiles DESTINATION lib/tmpfiles.d RENAME gillnet.conf)
