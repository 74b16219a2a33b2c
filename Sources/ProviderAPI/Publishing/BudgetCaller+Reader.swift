import NIOCore
import PushHTTP
import PushSupport

extension BudgetCaller.Identity {
    /// Creates the identity of a reader without a credential, by its network.
    ///
    /// It is `nil` where that says nothing of the reader: at a proxy on the same machine all have the address of the proxy.
    init?(ofReaderOn channel: any Channel) {
        // A stream of HTTP/2 has the address of its connection.
        guard let address = channel.remoteAddress ?? channel.parent?.remoteAddress,
            !address.isOfLocalProxy
        else { return nil }
        self = .network(address.network)
    }
}
