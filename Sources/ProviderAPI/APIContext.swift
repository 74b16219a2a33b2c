import Hummingbird
import NIOCore
import PushHTTP

/// A request of the REST API.
struct APIContext: JSONContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that the request came by.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
    }

    /// 1 MB; see ``BodyDescription``.
    var maxUploadSize: Int { 1024 * 1024 }
}
