package import NIOCore

extension ChannelHandlerContext {
    /// Closes both sides of a connection, one of which may be closed already.
    ///
    /// With half-closure allowed, TLS does not count the client's closure alert as the response to its own and would
    /// wait for five seconds.
    package func closeBothSides() {
        try? self.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
        self.close(promise: nil)
    }
}
