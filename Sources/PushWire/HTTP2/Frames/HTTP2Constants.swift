/// Numbers that hold for both ends of an HTTP/2 connection.
package enum HTTP2Constants {
    /// The first bytes of every client (RFC 9113 section 3.4).
    package static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    package static let largestStreamID: UInt32 = 0x7fff_ffff
    /// The largest flow-control window in bytes (RFC 9113 section 6.9.1).
    package static let largestWindow = 0x7fff_ffff
    /// The initial flow-control window in bytes (RFC 9113 section 6.9.2).
    package static let defaultWindow = 65_535
    /// The receive window of a connection, in bytes. Half of it at most is used before it is replenished.
    package static let connectionReceiveWindow = 1 << 20
    /// The largest header block over all its frames, in bytes.
    package static let maximumHeaderBlock = 32_768
    /// The dynamic table's size in bytes: the initial value of RFC 9113 section 6.5.2, which Martlet keeps.
    package static let headerTableSize = 4096
}
