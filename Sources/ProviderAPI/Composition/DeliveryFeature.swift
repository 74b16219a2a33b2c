import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// The feature for sending: operations that accept, show and stop notifications, and the dispatcher of their pushes.
struct DeliveryFeature: ProviderFeature {
    let metrics: DispatchMetrics
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(_ core: ProviderCore, _ sending: SendingComponents, _ policy: RetryPolicy, downloads: DownloadMonitor) {
        let web = Self.webPush(core)
        let metrics = DispatchMetrics(factory: core.metrics)
        self.metrics = metrics
        let dispatcher = Dispatcher(
            store: core.store,
            directory: sending.directory,
            web: web,
            invalidation: sending.invalidation,
            faults: sending.faults,
            wakes: core.wakes,
            outcomes: core.outcomes,
            events: core.webhookWake,
            limits: core.configuration.dispatch,
            policy: policy,
            metrics: metrics,
            downloads: { downloads.figures(app: $0) },
            waits: core.waits,
            nodes: { [nodes = core.nodes] in nodes?.count ?? 1 },
            direct: sending.direct,
            time: core.time,
            logger: core.logger
        )
        let campaigns = CampaignMonitor(store: core.store, lines: core.budgets[.logLines], logger: core.logger)
        self.services = [dispatcher, web, core.nodes.exclusive(campaigns, .campaigns)]
        self.controllers = Self.controllers(core, sending)
    }

    private static func controllers(_ core: ProviderCore, _ sending: SendingComponents) -> [any Controller<APIScope>] {
        let (store, time, faults, direct) = (core.store, core.time, sending.faults, sending.direct)
        let channels = ChannelDirectory(store: store, directory: sending.directory, source: sending.source, time: time)
        return [
            SendingController(
                store: store,
                acceptor: sending.acceptor,
                outcomes: core.outcomes,
                faults: faults,
                time: time
            ),
            NotificationsController(
                store: store,
                wakes: core.wakes,
                direct: direct,
                outcomes: core.outcomes,
                faults: faults,
                waits: core.waits,
                time: time
            ),
            NotificationListController(store: store, waits: core.waits, time: time),
            TimelineController(store: store, gateway: core.configuration.gatewayEvents, faults: faults, time: time),
            AppStopController(store: store, wakes: core.wakes, direct: direct, time: time),
            ChannelsController(store: store, channels: channels),
            BroadcastsController(
                store: store,
                channels: channels,
                acceptor: sending.acceptor,
                faults: faults,
                time: time
            ),
        ]
    }

    private static func webPush(_ core: ProviderCore) -> WebPushSenderFactory {
        var limits = core.configuration.webPush
        limits.deadline = core.configuration.limits.peer
        limits.page = core.configuration.limits.peer * 4 / 5
        return WebPushSenderFactory(
            store: core.store,
            addresses: core.configuration.webhookAddresses,
            resolver: core.resolver,
            limits: limits,
            time: core.time
        )
    }
}
