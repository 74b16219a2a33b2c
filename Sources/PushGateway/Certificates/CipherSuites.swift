import NIOSSL

/// The cipher suites of TLS 1.2 that listeners accept; those of TLS 1.3 are the library's.
enum CipherSuites {
    /// The suites for HTTP/2: forward secrecy and authenticated encryption only, none of RFC 9113 appendix A.
    static let http2: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}
