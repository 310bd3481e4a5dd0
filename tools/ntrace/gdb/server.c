// SPDX-License-Identifier: GPL-2.0-only
/* Connections of debuggers: each client walks through the same trace at its own place. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "server.h"

/* A few bytes can ask for much: read little at a time, and nothing while replies wait. */
#define READ_SIZE 512
#define WAITING_MAX 0x40000

struct client {
	struct remote *remote;
	int in;
	int out;
};

struct clients {
	struct server *server;
	struct client client[SERVER_CLIENTS_MAX];
	size_t count;
	bool served;	/* there was a client */
	bool blocked;	/* no file descriptor is left for another one */
	int child_ended;
};

/* ---- clients ---- */

static bool add_client(struct clients *clients, int in, int out)
{
	const char *const *start = clients->server->start;
	struct remote *remote =
		clients->count < SERVER_CLIENTS_MAX ? remote_new(clients->server->target) : NULL;

	if (!remote)
		return false;
	for (; *start; start++) {
		char *text;

		/* The command has checked them. */
		remote_start(remote, *start, &text);
		free(text);
	}
	fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
	fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
	clients->client[clients->count++] = (struct client){ remote, in, out };
	clients->served = true;
	return true;
}

static void remove_client(struct clients *clients, size_t index)
{
	struct client *client = &clients->client[index];

	remote_free(client->remote);
	clients->blocked = false;
	close(client->in);
	if (client->out != client->in)
		close(client->out);
	*client = clients->client[--clients->count];
}

static void accept_client(struct clients *clients)
{
	int fd = accept4(clients->server->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;

	if (fd < 0) {
		/* It would fail again at once. With no client there is nothing to wait for. */
		clients->blocked = clients->count && (errno == EMFILE || errno == ENFILE);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!add_client(clients, fd, fd)) {
		warn("a debugger was turned away: no more than %d at a time", SERVER_CLIENTS_MAX);
		close(fd);
	}
}

/* Return: false if the client is gone. */
static bool read_client(struct client *client)
{
	char bytes[READ_SIZE];
	ssize_t got = read(client->in, bytes, sizeof(bytes));

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	return got > 0 && remote_input(client->remote, bytes, (size_t)got);
}

static bool write_client(struct client *client)
{
	struct packet_stream *packets = &client->remote->packets;
	ssize_t put;

	if (!packets->out.size)
		return true;
	put = write(client->out, packets->out.bytes, packets->out.size);
	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	packet_sent(packets, (size_t)put);
	return true;
}

static bool serve_client(struct client *client, bool readable)
{
	struct remote *remote = client->remote;
	bool good = !readable || remote->packets.out.size > WAITING_MAX || read_client(client);

	return write_client(client) && good && !(remote->ended && !remote->packets.out.size);
}

/* ---- the loop ---- */

#define POLLS (2 + 2 * SERVER_CLIENTS_MAX)

static size_t prepare(const struct clients *clients, struct pollfd *polls)
{
	size_t count = 2;

	polls[0] = (struct pollfd){
		.fd = clients->blocked ? -1 : clients->server->listener,
		.events = POLLIN,
	};
	polls[1] = (struct pollfd){ .fd = clients->child_ended, .events = POLLIN };
	for (size_t i = 0; i < clients->count; i++) {
		const struct client *client = &clients->client[i];
		size_t waiting = client->remote->packets.out.size;

		/* Without events poll() would still report the end of a pipe, again and again. */
		polls[count++] = (struct pollfd){
			.fd = waiting > WAITING_MAX ? -1 : client->in,
			.events = POLLIN,
		};
		polls[count++] = (struct pollfd){
			.fd = waiting ? client->out : -1,
			.events = POLLOUT,
		};
	}
	return count;
}

static bool child_is_gone(const struct clients *clients, int *status)
{
	return clients->server->child && waitpid(clients->server->child, status, WNOHANG) > 0;
}

static int loop(struct clients *clients)
{
	const struct server *server = clients->server;
	struct pollfd polls[POLLS];
	int status = 0;
	bool input;

	while (server->child || server->keep || clients->count || !clients->served) {
		size_t served = clients->count;

		if (poll(polls, prepare(clients, polls), -1) < 0) {
			if (errno == EINTR)
				continue;
			return fail("poll: %s", strerror(errno));
		}
		/* From the last one: removing a client moves the last one to its place. */
		input = false;
		for (size_t i = served; i-- > 0;) {
			input |= polls[2 + 2 * i].revents;
			if (!serve_client(&clients->client[i], polls[2 + 2 * i].revents))
				remove_client(clients, i);
		}
		if (polls[1].revents && child_is_gone(clients, &status))
			return WIFEXITED(status) && WEXITSTATUS(status) == SERVER_NOT_STARTED ?
				       EXIT_FAILED :
				       EXIT_OK;
		/* The end of a client may follow its input, and make room: do not turn away yet. */
		if (polls[0].revents && (clients->count < SERVER_CLIENTS_MAX || !input))
			accept_client(clients);
	}
	return EXIT_OK;
}

static int serve(struct clients *clients)
{
	sigset_t signals;
	int error;

	clients->child_ended = -1;
	if (clients->server->child) {
		sigemptyset(&signals);
		sigaddset(&signals, SIGCHLD);
		clients->child_ended = signalfd(-1, &signals, SFD_CLOEXEC);
		if (clients->child_ended < 0)
			return fail("signalfd: %s", strerror(errno));
	}
	error = loop(clients);
	while (clients->count)
		remove_client(clients, clients->count - 1);
	if (clients->child_ended >= 0)
		close(clients->child_ended);
	return error;
}

int server_run(struct server *server)
{
	static struct clients clients;

	clients.server = server;
	return serve(&clients);
}

int server_pipe(struct server *server)
{
	static struct clients clients;

	server->listener = -1;
	clients.server = server;
	if (!add_client(&clients, STDIN_FILENO, STDOUT_FILENO))
		return fail("out of memory");
	return serve(&clients);
}

/* ---- listening ---- */

static int bind_first(const struct addrinfo *found)
{
	int fd = -1, on = 1, error = 0;

	for (; found && fd < 0; found = found->ai_next) {
		fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, found->ai_addr, found->ai_addrlen) ||
		    listen(fd, 2 * SERVER_CLIENTS_MAX)) {
			error = errno;
			close(fd);
			fd = -1;
			errno = error;
		}
	}
	return fd;
}

int server_listen(struct server *server, const char *address, char *name, size_t size)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV,
	};
	const char *colon = strrchr(address, ':'), *port = colon ? colon + 1 : address;
	char host[256] = "127.0.0.1", number[NI_MAXSERV];
	struct sockaddr_storage bound;
	socklen_t length = sizeof(bound);
	struct addrinfo *found;
	int error;

	if (colon && colon > address + 1 && address[0] == '[' && colon[-1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)(colon - address - 2), address + 1);
	else if (colon && colon > address)
		snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	error = getaddrinfo(host, port, &hints, &found);
	if (error)
		return fail("%s: %s", address, gai_strerror(error));
	server->listener = bind_first(found);
	error = errno;
	freeaddrinfo(found);
	if (server->listener < 0)
		return fail("%s: %s", address, strerror(error));
	if (getsockname(server->listener, (struct sockaddr *)&bound, &length) ||
	    getnameinfo((struct sockaddr *)&bound, length, host, sizeof(host), number,
			sizeof(number), NI_NUMERICHOST | NI_NUMERICSERV))
		return fail("%s: %s", address, strerror(errno));
	snprintf(name, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, number);
	return EXIT_OK;
}
