# A message was moved, copied or saved into Junk by its user.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];

if environment :matches "imap.user" "*" {
  set "user" "${1}";
}
pipe :copy "gillnet-report" [ "spam", "${user}" ];
