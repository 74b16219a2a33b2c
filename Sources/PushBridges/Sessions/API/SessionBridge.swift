import ProviderAPI
import ProviderModel
import PushHTTP
import ServiceLifecycle

/// The bridge that keeps users signed in at chat servers. The store has a record of each session instead of settings.
struct SessionBridge: BridgeFeature {
    static let kind = BridgeKind.session
    static let metrics = [
        MetricDescription("martlet_chat_pushes_total", "Pushes of messages of chat servers, by result."),
        MetricDescription("martlet_chat_sign_ins_total", "Sign-ins at chat servers, by protocol and result."),
    ]

    let controllers: [any Controller<APIScope>]
    private let service: ChatSessionService

    init(_ components: BridgeComponents) {
        let provider = components.provider
        self.service = ChatSessionService(provider, authorities: components.configuration.chatAuthorities)
        self.controllers = [
            ChatSessionsController(store: provider.store, service: self.service, time: provider.time)
        ]
    }

    var services: [any Service] { [self.service] }

    /// Ends the chat sessions whose records have been erased.
    func erasureBegan() { self.service.refresh() }
}
