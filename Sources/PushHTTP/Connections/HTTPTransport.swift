/// The channel of a handler of requests and responses.
package enum HTTPTransport: Sendable {
    /// A connection of HTTP/1.1, with one request after the other.
    case connection
    /// A stream of an HTTP/2 connection, with one request.
    case stream
}
