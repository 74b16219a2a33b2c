import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// The feature for the devices of users, audiences and templates, and the state of device tokens.
struct DeviceFeature: ProviderFeature {
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(_ core: ProviderCore, _ sending: SendingComponents) {
        let (store, time, logger) = (core.store, core.time, core.logger)
        let feedback = FeedbackService(
            store: store,
            directory: sending.directory,
            policy: sending.invalidation,
            endpoints: core.configuration.feedback,
            events: core.webhookWake,
            metrics: core.metrics,
            time: time,
            logger: logger
        )
        self.services = [
            core.nodes.exclusive(feedback, .feedback),
            TokenEventMonitor(store: store, metrics: core.metrics, logger: logger),
        ]
        self.controllers =
            Self.controllers(core, sending) + [
                TokenStateController(store: store, invalidation: sending.invalidation, time: time, logger: logger),
                FeedbackController(store: store, service: feedback, time: time),
                ReactivationController(store: store, time: time, logger: logger),
            ]
    }

    private static func controllers(_ core: ProviderCore, _ sending: SendingComponents) -> [any Controller<APIScope>] {
        let (store, time, turns) = (core.store, core.time, core.budgets[.longLists])
        let (direct, registrar) = (sending.direct, sending.registrar)
        let addresses = core.configuration.webhookAddresses
        return [
            UserSecretsController(store: store, time: time), VAPIDController(store: store, time: time),
            DevicesController(store: store, registrar: registrar, addresses: addresses, time: time),
            DeviceListController(store: store),
            InstallationsController(store: store, registrar: registrar, addresses: addresses, time: time),
            UserPreferencesController(store: store, direct: direct), HistoryController(store: store),
            AudiencesController(store: store, time: time),
            NamedAudiencesController(store: store, turns: turns, time: time),
            TemplatesController(store: store, turns: turns, time: time),
            DeviceTransferController(
                store: store,
                registrar: registrar,
                time: time,
                logger: core.logger,
                maximumFile: core.configuration.limits.importFile
            ),
        ]
    }
}
