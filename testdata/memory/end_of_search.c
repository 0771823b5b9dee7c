/* What a search has found is followed before it is asked whether there is such a thing: the pointer is one of several at that statement, all of
 * which the filters look at together. Functions with much else in them, so that not all of it is looked at. */
#include <stddef.h>

struct net {
	struct net *next;
	int id;
};

struct conf {
	struct conf *next;
	struct net **nets;
	int delay;
};

struct server {
	struct conf *confs;
	struct net *of[48];
	int count;
};

void use(int value);
void note(const char *text);

static int match(struct net **wanted, struct net *have, int strict)
{
	struct net *w, *h;

	if (!wanted)
		return strict;
	for (w = *wanted; w; w = w->next) {
		for (h = have; h; h = h->next)
			if (h->id == w->id)
				break;
		if (!h)
			return 0;
	}
	return 1;
}

static void count(struct server *server)
{
	server->count += server->of[0]->id + server->of[1]->id + server->of[2]->id + server->of[3]->id;
	server->count += server->of[4]->id + server->of[5]->id + server->of[6]->id + server->of[7]->id;
	server->count += server->of[8]->id + server->of[9]->id + server->of[10]->id + server->of[11]->id;
	server->count += server->of[12]->id + server->of[13]->id + server->of[14]->id + server->of[15]->id;
	server->count += server->of[16]->id + server->of[17]->id + server->of[18]->id + server->of[19]->id;
	server->count += server->of[20]->id + server->of[21]->id + server->of[22]->id + server->of[23]->id;
	server->count += server->of[24]->id + server->of[25]->id + server->of[26]->id + server->of[27]->id;
	server->count += server->of[28]->id + server->of[29]->id + server->of[30]->id + server->of[31]->id;
	server->count += server->of[32]->id + server->of[33]->id + server->of[34]->id + server->of[35]->id;
	server->count += server->of[36]->id + server->of[37]->id + server->of[38]->id + server->of[39]->id;
	server->count += server->of[40]->id + server->of[41]->id + server->of[42]->id + server->of[43]->id;
	server->count += server->of[44]->id + server->of[45]->id + server->of[46]->id + server->of[47]->id;
}

void followed_too_early(struct server *server, struct net *have)
{
	struct conf *conf;

	count(server);
	for (conf = server->confs; conf; conf = conf->next)
		if (match(conf->nets, have, 0))
			break;
	use(conf->delay); //~ null/dereference
	if (!conf)
		note("none");
	count(server);
}

void asked_first(struct server *server, struct net *have) //~ clean
{
	struct conf *conf;

	count(server);
	for (conf = server->confs; conf; conf = conf->next)
		if (match(conf->nets, have, 0))
			break;
	if (!conf)
		note("none");
	else
		use(conf->delay);
	count(server);
}
