/// The protocol over which an app's pushes reach the push service.
package enum PushTransport: String, CaseIterable, Hashable, Sendable {
    /// The provider API over HTTP/2.
    case http2
    /// The legacy binary protocol, which only certificates can use (reference 5).
    case binary
}
