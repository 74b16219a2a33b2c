import PushWire

/// Receives the requests of one provider connection. It is called on the connection's event loop.
protocol ProviderRequestDelegate {
    /// Is set while the connection has shown a valid credential.
    var isAuthenticated: Bool { get }

    /// The connection begins. It is called once, before all others.
    mutating func connectionOpened(_ handle: ProviderConnectionHandle)

    /// Receives the events that one read caused, in order. Responses given inside of this call are sent with one write.
    /// Later responses may come from any thread, through the connection's ``ProviderConnectionHandle``.
    mutating func receive(_ events: [HTTP2ServerEvent])
}
