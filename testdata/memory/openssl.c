// OpenSSL: objects that are made and freed, and references to them.
typedef __SIZE_TYPE__ size_t;
typedef struct bio BIO;
typedef struct x509 X509;
typedef struct store X509_STORE;
typedef struct digest EVP_MD_CTX;
typedef struct number BIGNUM;
typedef struct key EVP_PKEY;
void *CRYPTO_malloc(size_t size, const char *file, int line);
void CRYPTO_free(void *block, const char *file, int line);
BIO *BIO_new_file(const char *name, const char *mode);
int BIO_read(BIO *bio, void *data, int size);
int BIO_free(BIO *bio);
EVP_MD_CTX *EVP_MD_CTX_new(void);
int EVP_DigestUpdate(EVP_MD_CTX *digest, const void *data, size_t size);
void EVP_MD_CTX_free(EVP_MD_CTX *digest);
X509 *PEM_read_bio_X509(BIO *bio, X509 **known, void *password, void *data);
int X509_up_ref(X509 *certificate);
void X509_free(X509 *certificate);
int X509_STORE_add_cert(X509_STORE *store, X509 *certificate);
EVP_PKEY *EVP_PKEY_new(void);
void EVP_PKEY_free(EVP_PKEY *key);
void keep(X509 *certificate);

#define OPENSSL_malloc(size) CRYPTO_malloc(size, __FILE__, __LINE__)
#define OPENSSL_free(block) CRYPTO_free(block, __FILE__, __LINE__)

int bytes_lost(int busy)
{
    char *text = OPENSSL_malloc(10); //~ certain heap/leak
    if (!text)
        return -1;
    if (busy)
        return -2;
    OPENSSL_free(text);
    return 0;
}

int digest_lost(const char *text)
{
    EVP_MD_CTX *digest = EVP_MD_CTX_new(); //~ certain heap/leak
    if (!digest)
        return -1;
    if (!EVP_DigestUpdate(digest, text, 3))
        return -2;
    EVP_MD_CTX_free(digest);
    return 0;
}

int digest_freed(const char *text) //~ clean
{
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    int result = -1;
    if (digest && EVP_DigestUpdate(digest, text, 3))
        result = 0;
    EVP_MD_CTX_free(digest);
    return result;
}

int certificate_lost(BIO *bio, int busy)
{
    X509 *certificate = PEM_read_bio_X509(bio, 0, 0, 0); //~ certain heap/leak
    if (!certificate)
        return -1;
    if (busy)
        return -2;
    X509_free(certificate);
    return 0;
}

// It is read into what is there.
int certificate_filled(BIO *bio, X509 *certificate) //~ clean
{
    return PEM_read_bio_X509(bio, &certificate, 0, 0) ? 0 : -1;
}

void freed_twice(BIO *bio, int busy)
{
    X509 *certificate = PEM_read_bio_X509(bio, 0, 0, 0);
    if (busy)
        X509_free(certificate);
    X509_free(certificate); //~ certain heap/double-free
}

void two_references(BIO *bio) //~ clean
{
    X509 *certificate = PEM_read_bio_X509(bio, 0, 0, 0);
    if (!certificate)
        return;
    X509_up_ref(certificate);
    X509_free(certificate);
    X509_free(certificate);
}

int put_in_a_store(BIO *bio, X509_STORE *store) //~ clean
{
    X509 *certificate = PEM_read_bio_X509(bio, 0, 0, 0);
    int result = X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
    keep(certificate);
    return result;
}

int file_lost(const char *name)
{
    char first;
    BIO *bio = BIO_new_file(name, "r"); //~ certain heap/leak
    if (!bio)
        return -1;
    if (BIO_read(bio, &first, 1) != 1)
        return -2;
    BIO_free(bio);
    return first;
}

// A connection knows its descriptor, and a BIO may close it.
typedef struct ssl_st SSL;
int socket(int domain, int type, int protocol);
int close(int file);
int SSL_set_fd(SSL *ssl, int fd);
BIO *BIO_new_socket(int socket, int close_flag);

int connection(SSL *ssl) //~ clean
{
    int file = socket(2, 1, 0);
    if (file < 0)
        return -1;
    return SSL_set_fd(ssl, file);
}

BIO *of_socket(void) //~ clean
{
    int file = socket(2, 1, 0);
    if (file < 0)
        return 0;
    return BIO_new_socket(file, 1);
}

int socket_lost(SSL *ssl, int port)
{
    int file = socket(2, 1, 0); //~ file/leak
    if (file < 0)
        return -1;
    if (port == 0)
        return -2;
    return SSL_set_fd(ssl, file);
}
