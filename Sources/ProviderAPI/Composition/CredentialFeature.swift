import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import ServiceLifecycle

/// The feature for apps, credentials and environments, and for the monitors that detect faults of credentials.
struct CredentialFeature: ProviderFeature {
    let expiry: CredentialExpiryMonitor
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(_ core: ProviderCore, _ sending: SendingComponents) {
        let (store, time, logger, faults) = (core.store, core.time, core.logger, sending.faults)
        let expiry = CredentialExpiryMonitor(store: store, webhookWake: core.webhookWake, time: time, logger: logger)
        let tester = CredentialTester(store: store, directory: sending.directory, source: sending.source, time: time)
        let monitor = ConfigurationFaultMonitor(faults: faults, tester: tester, logger: logger)
        self.expiry = expiry
        self.services = [monitor, expiry]
        self.controllers = [
            AppsController(store: store, faults: faults, time: time),
            CredentialsController(
                store: store,
                directory: sending.directory,
                invalidation: sending.invalidation,
                expiry: expiry,
                faults: faults,
                direct: sending.direct,
                tester: tester,
                tests: core.budgets[.credentialTests],
                time: time,
                logger: logger
            ),
            EnvironmentsController(store: store, faults: faults, monitor: monitor),
        ]
    }
}
