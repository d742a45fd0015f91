# What `cmake --install` puts in place besides the programs: manual pages (as HTML, too, where mandoc
# is), completion for shells, configuration, systemd files. Units name the programs where they were installed. An existing configuration stays.
file(GLOB gillnet_man_pages CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/contrib/man/*.[1-8]")
foreach(page ${gillnet_man_pages})
  string(REGEX MATCH "[1-8]$" section "${page}")
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()

find_program(MANDOC mandoc)
if(MANDOC)
  set(html_dir "${CMAKE_BINARY_DIR}/html")
  file(MAKE_DIRECTORY "${html_dir}")
  foreach(page ${gillnet_man_pages})
    get_filename_component(name "${page}" NAME)
    add_custom_command(OUTPUT "${html_dir}/${name}.html"
      COMMAND sh -c "\"$1\" -T html -O toc,man=%N.%S.html \"$2\" > \"$3\""
              html "${MANDOC}" "${page}" "${html_dir}/${name}.html"
      DEPENDS "${page}" VERBATIM)
    list(APPEND html_pages "${html_dir}/${name}.html")
  endforeach()
  add_custom_target(html ALL DEPENDS ${html_pages})
  install(DIRECTORY "${html_dir}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/html")
endif()

# Made with the program, so that it is there whenever the program can be installed.
set(completion_dir "${CMAKE_BINARY_DIR}/completion")
add_custom_command(TARGET gillnet POST_BUILD
  COMMAND sh -c "mkdir -p \"$2\" && \"$1\" completion bash > \"$2/gillnet\" && \"$1\" completion zsh > \"$2/_gillnet\""
          completion "$<TARGET_FILE:gillnet>" "${completion_dir}" VERBATIM)
install(FILES "${completion_dir}/gillnet" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${completion_dir}/_gillnet" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")

install(FILES README.md CHANGELOG.md conf/gillnet.conf conf/gillnet.conf.minimal conf/digest.txt
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY contrib/dovecot DESTINATION "${CMAKE_INSTALL_DATADIR}/gillnet" USE_SOURCE_PERMISSIONS)
install(DIRECTORY conf/feeds.d DESTINATION /etc/gillnet) # ready-made feeds, all off
install(FILES contrib/model/prior DESTINATION "${CMAKE_INSTALL_DATADIR}/gillnet") # model.prior
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
foreach(unit gillnetd gillnet-hub gillnet-queue@ gillnet-reader gillnet-digest)
  install(CODE "
    file(READ \"${CMAKE_SOURCE_DIR}/systemd/${unit}.service\" text)
    foreach(place sbin/gillnetd bin/gillnet libexec/gillnet)
      string(REPLACE \"/usr/\${place}\" \"\${CMAKE_INSTALL_PREFIX}/\${place}\" text \"\${text}\")
    endforeach()
    set(made \"${CMAKE_BINARY_DIR}/systemd/${unit}.service\")
    file(WRITE \"\${made}\" \"\${text}\")
    file(INSTALL \"\${made}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")")
endforeach()
install(FILES systemd/gillnet-queue.socket systemd/gillnet-reader.socket systemd/gillnet-digest.timer DESTINATION lib/systemd/system)
install(FILES systemd/gillnetd-inet.conf systemd/gillnet-hub-proxy.conf DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES systemd/gillnet.sysusers DESTINATION lib/sysusers.d RENAME gillnet.conf)
install(FILES systemd/gillnet.tmpfiles DESTINATION lib/tmpfiles.d RENAME gillnet.conf)
