import Hummingbird
import PushHTTP

/// A request of the REST API.
struct APIContext: JSONContext {
    var coreContext: CoreRequestContextStorage

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
    }

    /// 1 MB; see ``RequestBody``.
    var maxUploadSize: Int { 1024 * 1024 }
}
