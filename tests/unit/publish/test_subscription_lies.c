/* test_subscription_lies - a publisher that signs nonsense: the list stays, or becomes a list that
 * it signed. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/file.h"

#include "tests/unit/publish/follower.h"
#include "tests/unit/unit.h"

enum { LIES = 300 };

struct lie {
    struct follower f;
    struct repository heads;
    struct buf bytes; /* what heads point into */
    char object[FILE_PATH_MAX];
};

static void read_file(const char *path, struct buf *ret)
{
    buf_init(ret, 1 << 20);
    assert_int_equal(file_read(path, ret, NULL), ERR_OK);
}

static void begin(struct lie *l)
{
    struct follower *f = &l->f;
    struct errinfo why;
    char path[FILE_PATH_MAX];
    char object[REPOSITORY_PATH_MAX];
    struct object_id id;
    const char *place = f->place;
    follower_init(f, 31);
    follower_change(f, 100);
    assert_int_equal(follower_publish(f, false, &why), ERR_OK);
    assert_int_equal(follower_round(f, &place, 1, &why), ERR_OK);
    f->now_ms += 1000;
    follower_change(f, 20);
    assert_int_equal(follower_publish(f, false, &why), ERR_OK);
    (void)snprintf(path, sizeof(path), "%s/v1/heads", f->place);
    read_file(path, &l->bytes);
    assert_int_equal(repository_parse(buf_slice(&l->bytes), &l->heads, &why), ERR_OK);
    stream_key_id(&l->heads.heads.v[0].stream, &id);
    repository_path('o', &id, l->heads.heads.v[0].seq, object);
    (void)snprintf(l->object, sizeof(l->object), "%s/%s", f->place, object);
}

/* One field, or bytes of the payload, are others; then all is signed again. */
static void tell(struct lie *l, const struct buf *was)
{
    struct follower *f = &l->f;
    struct object o;
    struct errinfo why;
    struct buf payload;
    struct buf all;
    buf_init(&payload, 1 << 20);
    buf_init(&all, 1 << 20);
    assert_int_equal(object_parse(buf_slice(was), &o, &why), ERR_OK);
    buf_add(&payload, slice_from(buf_slice(was), OBJECT_HEADER_BYTES));
    uint64_t any = follower_random(f, 1 << 20);
    switch (follower_random(f, 8)) {
    case 0:
        o.records = any % 64;
        break;
    case 1:
        o.raw_len = any;
        break;
    case 2:
        o.root.b[any % 32] ^= 1;
        break;
    case 3:
        o.prev.b[any % 32] ^= 1;
        break;
    case 4:
        o.type = OBJECT_SNAP;
        break;
    default:
        for (uint64_t i = 0; i <= any % 4; i++) {
            payload.p[follower_random(f, payload.n)] ^= (char)(1 + (any >> i) % 127);
        }
        hash256_of(buf_slice(&payload), &o.payload);
        break;
    }
    assert_int_equal(object_sign(&o, f->self.signing_secret, &all), ERR_OK);
    object_hash(buf_slice(&all), &l->heads.heads.v[0].hash);
    buf_add(&all, buf_slice(&payload));
    assert_int_equal(file_write_atomic(l->object, buf_slice(&all), 0644, NULL), ERR_OK);
    buf_fini(&payload);
    buf_fini(&all);
}

static void show_heads(struct lie *l)
{
    char path[FILE_PATH_MAX];
    struct buf bytes;
    l->f.now_ms += 1000;
    l->heads.heads.version++;
    l->heads.heartbeat.seq++;
    l->heads.heartbeat.created_ms = l->f.now_ms;
    l->heads.heartbeat.expires_ms = l->f.now_ms + l->f.valid_ms;
    buf_init(&bytes, REPOSITORY_HEADS_BYTES);
    assert_int_equal(repository_print(&l->heads, &l->f.self, &bytes), ERR_OK);
    (void)snprintf(path, sizeof(path), "%s/v1/heads", l->f.place);
    assert_int_equal(file_write_atomic(path, buf_slice(&bytes), 0644, NULL), ERR_OK);
    buf_fini(&bytes);
}

static void test_object__when_nonsense_is_signed__then_refused_and_the_list_stays(
    void **state)
{
    struct lie l;
    struct buf was;
    struct hash256 hash;
    struct errinfo why;
    (void)state;
    begin(&l);
    const char *place = l.f.place;
    read_file(l.object, &was);
    hash = l.heads.heads.v[0].hash;
    for (unsigned i = 0; i < LIES; i++) {
        uint64_t seed = l.f.random;
        tell(&l, &was);
        show_heads(&l);
        why = (struct errinfo){.text = ""};
        if (follower_round(&l.f, &place, 1, &why) == ERR_OK) {
            print_error("random %" PRIu64 ": taken\n", seed);
            fail();
        }
        assert_true(why.text[0] != '\0');
    }
    assert_int_equal(file_write_atomic(l.object, buf_slice(&was), 0644, NULL), ERR_OK);
    l.heads.heads.v[0].hash = hash;
    show_heads(&l);
    assert_int_equal(follower_round(&l.f, &place, 1, &why), ERR_OK);
    follower_assert_same(&l.f);
    buf_fini(&was);
    buf_fini(&l.bytes);
    repository_fini(&l.heads);
    follower_fini(&l.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_object__when_nonsense_is_signed__then_refused_and_the_list_stays),
    };
    return cmocka_run_group_tests_name("subscription_lies", tests, NULL, NULL);
}
