import Foundation
package import Hummingbird
package import NIOCore
package import PushSupport

/// The context of a request to one of the HTTP APIs.
package struct APIContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection that carries the request.
    package let channel: any Channel
    /// The caller of a request that is made within the process, in place of the header's API key; `nil` for every request
    /// that arrives on a connection.
    package var caller: APICaller?

    package init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
    }

    /// Returns the percent-decoded path component for `{name}`; empty if it cannot be decoded or has a NUL, at which the store's
    /// texts end.
    package func path(_ name: String) -> String {
        guard let text = self.parameters.get(name) else { return "" }
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        guard let decoded = text.removingPercentEncoding, !decoded.utf8.contains(0) else { return "" }
        return decoded
    }
}
