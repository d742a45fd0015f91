/* Nothing yet. */
typedef int peer_empty;
