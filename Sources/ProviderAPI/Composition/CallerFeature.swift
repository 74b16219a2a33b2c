import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// The feature for the callers of a provider: API keys, people with their sign-ins, and the audit trail.
struct CallerFeature: ProviderFeature {
    let keys: APIKeys
    let people: PeopleService
    let signIns: SignInService
    let runner: OperationRunner
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(_ core: ProviderCore) async throws {
        let (store, time, logger) = (core.store, core.time, core.logger)
        let keys = try await APIKeys(store: store, time: time, logger: logger)
        let people = PeopleService(store: store, settings: core.configuration.sessions, time: time)
        let trail = AuditTrail(store: store, time: time, logger: logger)
        let signIns = Self.signIns(core, keys: keys, trail: trail)
        let refusals = RefusedKeyLog(logger: logger)
        (self.keys, self.people, self.signIns) = (keys, people, signIns)
        self.runner = Self.runner(core, keys: keys, trail: trail, refusals: refusals)
        self.services = [refusals, keys.uses]
        self.controllers = [
            KeysController(store: store, keys: keys, time: time),
            PeopleController(store: store, people: people, time: time),
            AccountController(store: store, signIns: signIns, time: time),
            AuditController(store: store, trail: trail),
        ]
    }

    private static func signIns(_ core: ProviderCore, keys: APIKeys, trail: AuditTrail) -> SignInService {
        SignInService(
            store: core.store,
            keys: keys,
            hasher: PasswordHasher(
                core.configuration.passwords,
                secret: core.store.passwordSecret,
                places: core.budgets[.hashes],
                strangersPlaces: core.budgets[.strangerHashes]
            ),
            settings: core.configuration.sessions,
            lines: core.budgets[.logLines],
            time: core.time,
            logger: core.logger,
            audit: { await trail.record($0, status: 200, by: $1, isFrequent: true) }
        )
    }

    private static func runner(
        _ core: ProviderCore,
        keys: APIKeys,
        trail: AuditTrail,
        refusals: RefusedKeyLog
    ) -> OperationRunner {
        let requests = RequestMetrics(factory: core.metrics)
        return OperationRunner(
            keys: keys,
            apps: AppAuthorization(store: core.store),
            budgets: core.budgets,
            connections: core.connections,
            queryBudget: core.configuration.limits.query,
            audit: trail,
            metrics: requests,
            refusals: refusals,
            failures: FailureReporter(metrics: requests, lines: core.budgets[.logLines], logger: core.logger)
        )
    }
}
