import NIOCore

extension ChannelHandlerContext {
    /// Closes both halves of a connection that may be half closed.
    ///
    /// Where half closure is allowed, TLS does not take the client's end for the answer to ours, and would wait for five
    /// seconds.
    func closeWhole() {
        try? self.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
        self.close(promise: nil)
    }
}
