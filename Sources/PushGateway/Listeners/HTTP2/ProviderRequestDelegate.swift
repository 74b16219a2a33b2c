/// Whoever answers the requests of one provider connection. Called on the connection's event loop.
protocol ProviderRequestDelegate {
    /// The requests that one turn of the event loop brought, in order. What is answered inside of this call goes out with
    /// the same write; later answers may come from any thread, through the connection's ``ProviderConnectionHandle``.
    func received(_ requests: [(stream: UInt32, request: ProviderRequest)])

    /// Nobody awaits these answers any more; giving them all the same is harmless.
    func cancelled(_ streams: [UInt32])

    /// The connection is gone, and with it all answers still awaited. Nothing comes after this.
    func closed()
}
