#!/usr/bin/env python3
"""contrib/prometheus: every alert rule fires when it should and not when all is well; the same alerts as the hub judges."""
import json
import pathlib
import re
import sys
import tempfile
import unittest

import promtool

LABELS = 'instance="mx", job="gillnet"'
MINUTES = 20  # of samples, one a minute; what is bad begins at BAD and ends at GOOD
BAD, GOOD = 6, 12


def steady(v):
    return [v] * MINUTES


def while_bad(v, bad):
    return [bad if BAD <= i < GOOD else v for i in range(MINUTES)]


def rising(step, bad=None):
    out = [0]
    for i in range(1, MINUTES):
        out.append(out[-1] + (bad if bad is not None and BAD <= i < GOOD else step))
    return out


TIMES = {f'gillnet_stage_duration_seconds_bucket{{stage="message", le="{le}"}}': rising(100)
         for le in ("0.02", "0.05", "0.1", "+Inf")}
WELL = {
    "up": steady(1),
    "gillnet_gillnetd_up": steady(1),
    "gillnet_messages_total": rising(100),
    "gillnet_on_error_total": rising(0),
    "gillnet_deadline_total": rising(0),
    "gillnet_sessions_refused_total": rising(0),
    "gillnet_messages_unread_total": rising(0),
    **TIMES,
    'gillnet_stage_duration_seconds_count{stage="message"}': rising(100),
    "gillnet_memory_bytes": steady(85),
    "gillnet_memory_limit_bytes": steady(100),
    "gillnet_filter_error_ratio": steady(0.002),
    "gillnet_filter_alarms": steady(0),
    'gillnet_list_fault{list="phish"}': steady(0),
    "gillnet_lists_failed": steady(0),
    'gillnet_list_age_seconds{list="phish"}': steady(3600),
    'gillnet_list_max_age_seconds{list="phish"}': steady(3600),
    'gillnet_list_age_seconds{list="ours"}': steady(10**8),
    'gillnet_list_max_age_seconds{list="ours"}': steady(0),
    'gillnet_feed_state{feed="urlhaus", state="refused"}': while_bad("_", "_"),
    'gillnet_feed_state{feed="urlhaus", state="ok"}': steady(1),
    'gillnet_feed_failures{feed="urlhaus"}': steady(4),
    'gillnet_feed_good_time_seconds{feed="urlhaus"}': [60 * i for i in range(MINUTES)],
    'gillnet_feed_silent_after_seconds{feed="urlhaus"}': steady(240),
    'gillnet_feed_good_time_seconds{feed="never"}': steady(0),
    'gillnet_feed_silent_after_seconds{feed="never"}': steady(240),
    'gillnet_feed_good_time_seconds{feed="stays"}': steady(1),
    'gillnet_feed_silent_after_seconds{feed="stays"}': steady(0),
    'gillnet_peer_called{peer="two"}': steady(1),
    'gillnet_peer_connected{peer="two"}': steady(1),
    'gillnet_peer_stale{peer="two"}': steady(0),
    'gillnet_peer_distrusted{peer="two"}': steady(0),
    'gillnet_peer_called{peer="calls_us"}': steady(0),
    'gillnet_peer_connected{peer="calls_us"}': steady(0),
    'gillnet_shared_state{state="up"}': steady(1),
    'gillnet_shared_state{state="down"}': steady(0),
    'gillnet_shared_state{state="full"}': steady(0),
    'gillnet_shared_server_memory_bytes{server="r:1"}': steady(90),
    'gillnet_shared_server_memory_limit_bytes{server="r:1"}': steady(100),
    'gillnet_shared_server_memory_bytes{server="r:2"}': steady(90),
    'gillnet_shared_server_memory_limit_bytes{server="r:2"}': steady(0),
    "gillnet_shared_spool_bytes": steady(90),
    "gillnet_shared_spool_limit_bytes": steady(100),
    "gillnet_shared_updates_lost_total": rising(0),
    'gillnet_count_noise_ratio{window="1d"}': steady(0.01),
    "gillnet_count_noise_limit_ratio": steady(0.01),
    "gillnet_count_volatile": steady(0),
    "gillnet_count_doorkeeper_entries": steady(90),
    "gillnet_count_doorkeeper_capacity": steady(100),
    "gillnet_count_cells_used": steady(90),
    "gillnet_count_cells": steady(100),
    "gillnet_scrub_errors_total": rising(0),
    "gillnet_count_damaged_runs": steady(0),
    "gillnet_state_free_bytes": steady(5),
    "gillnet_state_size_bytes": steady(100),
    "gillnet_accounts_above": steady(0),
    "gillnet_count_clock_suspended": steady(0),
    "gillnet_log_dropped_total": rising(0),
    "gillnet_files_unasked_total": rising(0),
    "gillnet_files_read_total": steady(1),
    'gillnet_limit_met_total{limit="cpu"}': rising(0),
    'gillnet_limit_met_total{limit="charset"}': rising(50),
    "gillnet_reloads_failed_total": rising(0),
    "gillnet_config_id": steady(7),
    "gillnet_hub_config_id": steady(7),
    "gillnet_config_restart_keys": steady(0),
    "gillnet_hub_config_restart_keys": steady(0),
}
SLOW = {f'gillnet_stage_duration_seconds_bucket{{stage="message", le="{le}"}}': rising(100, 98)
        for le in ("0.02", "0.05")}
# Samples that make an alert fire; an alert with several rows can fire for several reasons.
BAD_WAYS = [
    ("GillnetHubDown", {"up": while_bad(1, 0)}),
    ("GillnetDown", {"gillnet_gillnetd_up": while_bad(1, 0)}),
    ("GillnetErrors", {"gillnet_on_error_total": rising(0, 5)}),
    ("GillnetErrors", {"gillnet_deadline_total": rising(0, 5)}),
    ("GillnetSessionsRefused", {"gillnet_sessions_refused_total": rising(0, 1)}),
    ("GillnetLimits", {'gillnet_limit_met_total{limit="cpu"}': rising(0, 3)}),
    ("GillnetLatency", SLOW),
    ("GillnetEmergency", {"gillnet_emergency": while_bad(0, 1)}),
    ("GillnetMemory", {"gillnet_memory_bytes": while_bad(85, 86)}),
    ("GillnetFalsePositives", {"gillnet_filter_error_ratio": while_bad(0.002, 0.0021)}),
    ("GillnetFilterAlarm", {"gillnet_filter_alarms": while_bad(0, 1)}),
    ("GillnetListFault", {'gillnet_list_fault{list="phish"}': while_bad(0, 1)}),
    ("GillnetListFault", {"gillnet_lists_failed": while_bad(0, 2)}),
    ("GillnetUnread", {"gillnet_messages_unread_total": rising(0, 1)}),
    ("GillnetReader", {"gillnet_files_unasked_total": rising(0, 1)}),
    ("GillnetListOld", {'gillnet_list_age_seconds{list="phish"}': while_bad(3600, 3601)}),
    ("GillnetFeedRefused", {'gillnet_feed_state{feed="urlhaus", state="refused"}': while_bad("stale", 1)}),
    ("GillnetFeedFailing", {'gillnet_feed_failures{feed="urlhaus"}': while_bad(4, 5)}),
    ("GillnetFeedSilent", {'gillnet_feed_good_time_seconds{feed="urlhaus"}':
                           [60 * (4 if BAD <= i < GOOD else i) for i in range(MINUTES)]}),
    ("GillnetPeerLost", {'gillnet_peer_connected{peer="two"}': while_bad(1, 0)}),
    ("GillnetPeerLost", {'gillnet_peer_stale{peer="two"}': while_bad(0, 1)}),
    ("GillnetPeerDistrusted", {'gillnet_peer_distrusted{peer="two"}': while_bad(0, 1)}),
    ("GillnetStoreDown", {'gillnet_shared_state{state="down"}': while_bad(0, 1)}),
    ("GillnetStoreFull", {'gillnet_shared_state{state="full"}': while_bad(0, 1)}),
    ("GillnetStoreFull", {'gillnet_shared_server_memory_bytes{server="r:1"}': while_bad(90, 91)}),
    ("GillnetStoreSpool", {"gillnet_shared_spool_bytes": while_bad(90, 91)}),
    ("GillnetStoreLost", {"gillnet_shared_updates_lost_total": rising(0, 1)}),
    ("GillnetNoise", {'gillnet_count_noise_ratio{window="1d"}': while_bad(0.01, 0.011)}),
    ("GillnetCountsVolatile", {"gillnet_count_volatile": while_bad(0, 1)}),
    ("GillnetCountsFull", {"gillnet_count_doorkeeper_entries": while_bad(90, 91)}),
    ("GillnetCountsFull", {"gillnet_count_cells_used": while_bad(90, 91)}),
    ("GillnetDamage", {"gillnet_scrub_errors_total": rising(0, 1)}),
    ("GillnetDamage", {"gillnet_count_damaged_runs": while_bad(0, 1)}),
    ("GillnetDiskFull", {"gillnet_state_free_bytes": while_bad(5, 4)}),
    ("GillnetAccount", {"gillnet_accounts_above": while_bad(0, 1)}),
    ("GillnetClock", {"gillnet_count_clock_suspended": while_bad(0, 1)}),
    ("GillnetLogDropped", {"gillnet_log_dropped_total": rising(0, 1)}),
    ("GillnetReloadRefused", {"gillnet_reloads_failed_total": rising(0, 1)}),
    ("GillnetConfigDiffers", {"gillnet_config_id": while_bad(7, 8)}),
    ("GillnetRestartNeeded", {"gillnet_config_restart_keys": while_bad(0, 2)}),
    ("GillnetRestartNeeded", {"gillnet_hub_config_restart_keys": while_bad(0, 1)}),
]


def series(samples):
    out = []
    for name, values in samples.items():
        labels = f"{name[:-1]}, {LABELS}}}" if name.endswith("}") else f"{name}{{{LABELS}}}"
        out.append({"series": labels, "values": " ".join(map(str, values))})
    return out


def firing(minute, alerts):
    """At that minute just these fire."""
    return {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{a}"}}', "value": 1} for a in alerts]}


class Rules(unittest.TestCase):
    def promtool(self, tests):
        with tempfile.TemporaryDirectory() as top:
            path = pathlib.Path(top) / "test.yml"
            path.write_text(json.dumps({"rule_files": [str(promtool.RULES)], "evaluation_interval": "1m",
                                        "tests": tests}))  # JSON is YAML
            return promtool.run("test", "rules", path)

    def assert_passes(self, tests):
        status, said = self.promtool(tests)
        self.assertEqual(status, 0, said)

    def test_files__when_checked__then_valid(self):
        status, said = promtool.run("check", "rules", promtool.RULES)
        self.assertEqual(status, 0, said)
        status, said = promtool.run("check", "config", promtool.RULES.parent / "prometheus.yml")
        self.assertEqual(status, 0, said)

    def test_all_well__then_nothing_fires(self):
        self.assert_passes([{"interval": "1m", "input_series": series(WELL),
                             "promql_expr_test": [firing(m, []) for m in range(MINUTES)]}])

    def test_each_rule__when_bad__then_it_alone_fires_and_is_over(self):
        self.assertEqual({a for a, _ in BAD_WAYS}, set(promtool.rules()))
        self.assert_passes([{"name": alert, "interval": "1m", "input_series": series({**WELL, **bad}),
                             "promql_expr_test": [firing(BAD - 1, []), firing(GOOD - 1, [alert]),
                                                  firing(MINUTES - 1, [])]} for alert, bad in BAD_WAYS])

    def test_a_rule_that_does_not_fire__then_the_test_fails(self):
        status, _ = self.promtool([{"interval": "1m", "input_series": series(WELL),
                                    "promql_expr_test": [firing(GOOD - 1, ["GillnetDown"])]}])
        self.assertNotEqual(status, 0)

    def test_little_mail__one_slow_message__then_no_alert(self):
        slow = {k: [v // 60 if "0.0" in k else v // 50 for v in values] for k, values in TIMES.items()}
        slow['gillnet_stage_duration_seconds_count{stage="message"}'] = [v // 50 for v in rising(100)]
        self.assert_passes([{"interval": "1m", "input_series": series({**WELL, **slow}),
                             "promql_expr_test": [firing(MINUTES - 1, [])]}])

    def test_texts__when_an_alert_fires__then_they_name_it_and_say_what_to_do(self):
        rule = promtool.rules()["GillnetListOld"]
        bad = {'gillnet_list_age_seconds{list="phish"}': while_bad(3600, 7200)}
        self.assert_passes([{
            "interval": "1m", "input_series": series({**WELL, **bad}),
            "alert_rule_test": [{"eval_time": f"{GOOD - 1}m", "alertname": "GillnetListOld", "exp_alerts": [{
                "exp_labels": {"severity": "warning", "list": "phish", "instance": "mx", "job": "gillnet"},
                "exp_annotations": {"summary": rule["summary"], "action": rule["action"],
                                    "description": "List phish at mx changed 2h 0m 0s ago."}}]}]}])

    def test_the_hubs_own_table__then_same_names_severities_and_texts(self):
        table = (promtool.ROOT / "core/hub/metrics/alert.def").read_text()
        rows = re.findall(r'ALERT\((\w+), (\w+), \w+, "([^"]*)",\s*"([^"]*)"\)', table)
        self.assertEqual(len(rows), len(re.findall(r"^ALERT\(", table, re.M)))
        ours = {n: (s.lower(), m, a) for n, s, m, a in rows}
        theirs = {n: (r["severity"], r["summary"], r["action"]) for n, r in promtool.rules().items()}
        theirs.pop("GillnetHubDown")  # the hub cannot say that itself
        self.assertEqual(theirs, ours)

    def test_the_manual__then_it_names_each_alert_and_when(self):
        page = (promtool.ROOT / "contrib/man/gillnet-metrics.7").read_text()
        rows = re.findall(r"^\.It Li (\w+) Ta (\w+) Ta (.*)$", page, re.M)
        self.assertEqual(rows, [(n, r["severity"], r["summary"]) for n, r in promtool.rules().items()
                                if n != "GillnetHubDown"])


if __name__ == "__main__":
    sys.exit(unittest.main())
