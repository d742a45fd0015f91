/* test_shared_info - what INFO of real servers says, and texts that no honest server sends. */
#include "core/hub/shared/shared_info.h"
#include "core/hub/shared/shared_json.h"

#include "tests/unit/unit.h"

static const char redis[] =
    "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:67a9\r\n"
    "server_time_usec:1795859370966653\r\n\r\n# Memory\r\nused_memory:917016\r\n"
    "used_memory_human:895.52K\r\nmaxmemory:1048576\r\nmaxmemory_policy:noeviction\r\n"
    "mem_not_counted_for_evict:17016\r\n\r\n# Persistence\r\nloading:0\r\n"
    "rdb_last_bgsave_status:ok\r\naof_enabled:1\r\naof_last_write_status:ok\r\n\r\n"
    "# Stats\r\nevicted_keys:3\r\n\r\n# Replication\r\nrole:master\r\n"
    "connected_slaves:3\r\nslave0:ip=10.0.0.2,port=6379,state=online,offset=1,lag=0\r\n"
    "slave1:ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0\r\n"
    "slave_repl_offset:1\r\nslave2:ip=10.0.0.4,port=6379,state=online,offset=1,lag=1\r\n";

static struct shared_server_status read_info(const char *text, struct shared_info *info)
{
    struct shared_server_status s = {.nreplicas = 9};

    *info = (struct shared_info){.time_us = 0};
    shared_info_read(slice_str(text), &s, info);
    return s;
}

static void test_info__of_redis__then_each_field(void **state)
{
    struct shared_info info;
    struct shared_server_status s = read_info(redis, &info);

    (void)state;
    assert_string_equal(s.product, "redis");
    assert_string_equal(s.version, "7.0.15");
    assert_string_equal(info.run_id, "67a9");
    assert_int_equal(info.time_us, 1795859370966653);
    assert_int_equal(s.memory_bytes, 900000); /* buffers are not counted */
    assert_int_equal(s.memory_limit, 1048576);
    assert_string_equal(s.policy, "noeviction");
    assert_int_equal(s.role, SHARED_MASTER);
    assert_int_equal(s.nreplicas, 2); /* the third one still copies */
    assert_int_equal(s.is_persistent, SHARED_YES);
    assert_int_equal(s.can_write, SHARED_YES);
    assert_int_equal(s.evicted, 3);
}

static void test_info__of_others__then_told_apart(void **state)
{
    struct shared_info info;
    struct shared_server_status s = read_info(
        "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n"
        "role:slave\r\naof_enabled:0\r\n",
        &info);

    (void)state;
    assert_string_equal(s.product, "valkey");
    assert_string_equal(s.version, "8.0.1");
    assert_int_equal(s.role, SHARED_REPLICA);
    assert_int_equal(s.is_persistent, SHARED_NO);
    assert_int_equal(s.can_write, SHARED_UNKNOWN);
    s = read_info("redis_mode:sentinel\r\nrole:master\r\n", &info);
    assert_int_equal(s.role, SHARED_SENTINEL);
}

static void test_info__when_it_cannot_write__then_no(void **state)
{
    static const char *const texts[] = {
        "loading:1\r\n", "loading:0\r\nrdb_last_bgsave_status:err\r\n",
        "loading:0\r\naof_last_write_status:err\r\nrdb_last_bgsave_status:ok\r\n"};
    struct shared_info info;

    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        assert_int_equal(read_info(texts[i], &info).can_write, SHARED_NO);
    }
}

static void test_info__when_hostile__then_cut_printable_and_no_number(void **state)
{
    struct shared_info info;
    struct shared_server_status s = read_info(
        "redis_version:\x1b[2J0123456789012345678901234567890123456789\nused_memory:-1\n"
        "maxmemory:99999999999999999999\nmem_not_counted_for_evict:5\nslave:state=online"
        "\nslave99999999999:state=online\nslave0x:state=online\n:::\nrole",
        &info);

    (void)state;
    assert_string_equal(s.version, "?[2J012345678901234567890123456");
    assert_int_equal(s.memory_bytes, 0);
    assert_int_equal(s.memory_limit, 0);
    assert_int_equal(s.nreplicas, 0);
    assert_int_equal(s.role, SHARED_ROLE_UNKNOWN);
    assert_int_equal(read_info("", &info).nreplicas, 0);
}

/* The limit of the whole is known only if each master has one. */
static void test_json__of_masters__then_their_memory_together(void **state)
{
    struct shared_status *s = calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    s->watch.state = SHARED_PARTLY;
    s->watch.nservers = 3;
    s->watch.servers[0] = (struct shared_server_status){
        .role = SHARED_MASTER, .memory_bytes = 10, .memory_limit = 100};
    s->watch.servers[1] = (struct shared_server_status){
        .role = SHARED_REPLICA, .memory_bytes = 1000, .memory_limit = 0};
    s->watch.servers[2] = (struct shared_server_status){
        .role = SHARED_MASTER, .memory_bytes = 20, .memory_limit = 200};
    json_t *all = shared_status_json(s, "cluster");
    json_t *memory = json_object_get(all, "memory");
    assert_string_equal(json_string_value(json_object_get(all, "state")), "partly");
    assert_int_equal(json_integer_value(json_object_get(memory, "bytes")), 30);
    assert_int_equal(json_integer_value(json_object_get(memory, "limit")), 300);
    json_decref(all);
    s->watch.servers[2].memory_limit = 0;
    all = shared_status_json(s, "cluster");
    memory = json_object_get(all, "memory");
    assert_int_equal(json_integer_value(json_object_get(memory, "limit")), 0);
    json_decref(all);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info__of_redis__then_each_field),
        cmocka_unit_test(test_info__of_others__then_told_apart),
        cmocka_unit_test(test_info__when_it_cannot_write__then_no),
        cmocka_unit_test(test_info__when_hostile__then_cut_printable_and_no_number),
        cmocka_unit_test(test_json__of_masters__then_their_memory_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
