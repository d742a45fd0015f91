# SpamAssassin for bench_learn.py: learns and scans the messages that standard input names.
#
#   perl -T -I... learn_spamassassin.pl RULES SITE STATE
#
# Lines of input: "spam FILE" and "ham FILE" learn, "flush" ends a row of them, "scan FILE" answers with one line
# of JSON: {"score", "rules": {name: score}}. RULES has the distributed rules, SITE the plug-ins and local.cf, and
# STATE the Bayes database. No network.
use strict;
use warnings;
use JSON::PP;
use Mail::SpamAssassin;

my ($rules, $site, $state) = map { /^(.*)$/s; $1 } @ARGV;
my $sa = Mail::SpamAssassin->new({
    rules_filename => $rules, site_rules_filename => $site, userprefs_filename => "$site/none",
    userstate_dir => $state, home_dir_for_helpers => $state, dont_copy_prefs => 1, local_tests_only => 1,
});
$sa->init(1);
my $json = JSON::PP->new->canonical;
my $learning = 0;
$| = 1;
while (my $line = <STDIN>) {
    my ($what, $path) = $line =~ /^(spam|ham|scan|flush)(?: (.*))?$/s or die "bad line: $line";
    if ($what eq 'flush') {
        $sa->rebuild_learner_caches() if $learning;
        $sa->finish_learner() if $learning;
        $learning = 0;
        print "{}\n";
        next;
    }
    chomp $path;
    open(my $file, '<:raw', $path) or die "$path: $!";
    my $mail = $sa->parse([<$file>]);
    close $file;
    if ($what eq 'scan') {
        my $status = $sa->check($mail);
        my %hit = map { $_ => 0 + ($sa->{conf}{scores}{$_} // 1) } split /,/, $status->get_names_of_tests_hit();
        print $json->encode({score => 0 + $status->get_score(), rules => \%hit}), "\n";
        $status->finish();
    } else {
        $sa->init_learner({caller_will_untie => 1}) unless $learning;
        $learning = 1;
        $sa->learn($mail, undef, $what eq 'spam' ? 1 : 0, 0)->finish();
    }
    $mail->finish();
}
