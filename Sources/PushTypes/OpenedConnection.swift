/// A connection that carried pushes, for the record of their transmission.
package struct OpenedConnection: Hashable, Sendable {
    /// The push service, `host:port`.
    package var service: String
    /// The address at the other end, `address:port`, the proxy's behind a proxy; `nil` if it is not known.
    package var address: String?
    /// The port at this end, by which captures and other logs find it.
    package var localPort: Int?
    package var openedAt: Timestamp

    package init(service: String, address: String?, localPort: Int?, openedAt: Timestamp) {
        (self.service, self.address) = (service, address)
        (self.localPort, self.openedAt) = (localPort, openedAt)
    }
}
