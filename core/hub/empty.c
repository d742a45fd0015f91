/* Nothing yet. */
typedef int hub_empty;
