int milter_empty(void);
int milter_empty(void)
{
    return 0;
}
