import NIOCore
import PushHTTP
import PushSupport
import PushTypes

extension BudgetCaller {
    /// Makes the caller for the client at the other end of a connection, which has no credential.
    /// - Parameter app: The app that it wants something of; `nil` before that is known.
    init(clientOf channel: any Channel, app: Topic? = nil) {
        // A stream of HTTP/2 has the address of its connection.
        let address = channel.remoteAddress ?? channel.parent?.remoteAddress
        self.init(app: app, .network(address?.network ?? []))
    }
}
