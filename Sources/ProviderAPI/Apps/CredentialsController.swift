import Hummingbird
import Logging
import ProviderModel
package import PushHTTP
package import PushProvider
import PushSender
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/apps/{app}/credentials`, which manage the credentials with which apps authenticate at the
/// push service. No response contains a secret.
struct CredentialsController: Controller {
    let store: any AppStore & EnvironmentStore
    let directory: SenderDirectory
    let invalidation: TokenInvalidationPolicy
    let expiry: CredentialExpiryMonitor
    let faults: ConfigurationFaultTracker
    /// The queue of pushes in memory. The removal of a credential removes the pushes that need it.
    let direct: DirectDispatch
    let tester: CredentialTester
    /// The budget of operations that open or test a credential. It allows each app one at a time, and a few per minute.
    let tests: Budget
    let time: any TimeSource
    let logger: Logger

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/credentials/{environment}"
        return [
            .init(.get, "/v1/apps/{app}/credentials", id: "listCredentials", self.list)
                .summary("The app's credentials, without their secrets.")
                .tag(.apps).scope(.read).responses(.ok(.list("credentials", of: CredentialResponse.schema))),
            .init(.put, path, .audited, id: "setCredential", self.set)
                .summary("Sets a token key, a certificate with its key in PEM, or a .p12.")
                .tag(.apps).scope(.operate).body(CredentialRequest.object.schema)
                .responses(.ok(CredentialResponse.schema)),
            self.testing(path),
            .init(.delete, path, .audited, id: "deleteCredential", "Removes a credential.", self.delete)
                .tag(.apps).scope(.operate).responses(.ok(StopResponse.schema)),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        var credentials: [CredentialResponse] = []
        for environment in PushEnvironment.allCases {
            let target = AppEnvironment(app: app.id, environment: environment)
            guard let stored = try await self.store.storedCredential(target) else { continue }
            credentials.append(CredentialResponse(stored.credential, over: stored.transport, environment: environment))
        }
        return try .page("credentials", credentials)
    }

    /// Sets the credential of one environment, and discards what depends on the old one, such as its senders.
    private func set(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        let fields = try await request.fields(CredentialRequest.object)
        let record = try CredentialRequest.record(fields)
        let place = record.kind == "key" ? nil : try self.takeTest(of: app)
        defer { place?.end() }
        try Self.check(record, app: app, environment: environment, fields, now: self.time.now)
        let transport = try CredentialRequest.transport(fields)
        try await self.store.setCredential(record, over: transport, app: app.id, environment: environment)
        await self.changed("credential set", app, environment, ["kind": "\(record.kind)"])
        try await self.faults.credentialChanged(AppEnvironment(app: app.id, environment: environment))
        return try .json(CredentialResponse(record, over: transport, environment: environment))
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        guard try await self.store.removeCredential(app: app.id, environment: environment) else {
            throw RequestError.noSuch("credential", by: "environment", at: "environment")
        }
        // The environment stays paused, because nothing can be sent without a credential.
        await self.changed("credential removed", app, environment, [:])
        let target = AppEnvironment(app: app.id, environment: environment)
        return try .json(StopResponse(underWay: self.direct.apply(.environment(target)).count))
    }

    /// Discards the senders and the circuit breakers that depend on the old credential, and logs the change.
    private func changed(
        _ message: Logger.Message,
        _ app: AppRecord,
        _ environment: PushEnvironment,
        _ details: Logger.Metadata
    ) async {
        self.directory.forget(app: app.id)
        self.invalidation.forget(app: app.id)
        let subject: Logger.Metadata = ["app": "\(app.bundleID.name)", "environment": "\(environment.rawValue)"]
        self.logger.info(message, metadata: subject.merging(details) { $1 })
        await self.expiry.check()
    }

    /// Takes a permit to open a certificate from the budget ``tests``, because its key derivation may take a second.
    /// - Throws: ``RetryLaterError`` if the budget is exhausted.
    private func takeTest(of app: AppRecord) throws -> BudgetPermit {
        do throws(BudgetRefusal) {
            return try self.tests.take(for: BudgetCaller(app: app.bundleID))
        } catch {
            throw error.error
        }
    }

    /// Rejects a credential that cannot be used now, because it has expired or is for another environment or app. Every
    /// push with it would fail.
    private static func check(
        _ record: CredentialRecord,
        app: AppRecord,
        environment: PushEnvironment,
        _ fields: JSONFields,
        now: Timestamp
    ) throws {
        // The member of the request that contains the credential.
        let member = record.kind == "key" ? "privateKey" : record.kind
        do {
            guard case .certificate(let certificate) = try record.credential() else { return }
            try certificate.check(environment: environment, now: now)
            let topics = certificate.topics.map(\.topic)
            let fits = topics.contains { $0 == app.bundleID || $0.bundleID == app.bundleID }
            guard topics.isEmpty || fits else {
                let names = topics.prefix(5).map(\.name).joined(separator: ", ")
                throw fields.error(member, "topic_mismatch", "the certificate is for \(names), not \(app.bundleID)")
            }
        } catch let error as CredentialError {
            let (field, code): (String, String) =
                switch error {
                case .badTeamID: ("teamId", "invalid_credential")
                case .badKeyID: ("keyId", "invalid_credential")
                case .passphraseMissing, .wrongPassphrase, .unsupportedPassphrase: ("passphrase", "wrong_passphrase")
                case .expired: (member, "expired_certificate")
                case .wrongEnvironment: (member, "wrong_environment")
                default: (member, "invalid_credential")
                }
            throw fields.error(field, code, error.description)
        }
    }
}

/// The operation `POST /v1/apps/{app}/credentials/{environment}:test`, which tests a credential with a push that
/// reaches no device.
extension CredentialsController {
    private func testing(_ path: String) -> ProviderOperation {
        .init(.post, "\(path):test", .audited, id: "testCredential", self.test)
            .summary("Tests the stored credential, or the one in the body, with a push that reaches no device.")
            .tag(.apps).scope(.operate)
            .body(CredentialRequest.test.schema, isRequired: false)
            .responses(.ok(CredentialTestResponse.schema, "The test was made, whatever it found."))
            .errors(.conflict)
    }

    private func test(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        let fields = try await request.fields(CredentialRequest.test)
        let isStored = fields.members.isEmpty && fields.nulls.isEmpty
        let record = isStored ? nil : try CredentialRequest.record(fields)
        let target = AppEnvironment(app: app.id, environment: environment)
        if record == nil, try await self.store.credential(app: app.id, environment: environment) == nil {
            throw RequestError.missingCredential(
                environment.rawValue,
                hint: ": set one, or give one in the body",
                at: "environment"
            )
        }
        let place = try self.takeTest(of: app)
        defer { place.end() }
        if let record { try Self.check(record, app: app, environment: environment, fields, now: self.time.now) }
        let test =
            if let record {
                await self.tester.test(record, over: try CredentialRequest.transport(fields), of: app, in: environment)
            } else {
                try await self.tester.testStored(target, measures: true)
            }
        return try .json(CredentialTestResponse(test: test, environment: environment, app: app.bundleID))
    }
}

/// The response object for a credential test. It states whether the push service accepts pushes with the credential,
/// and if not, why.
package struct CredentialTestResponse: ResponseObject {
    package let test: CredentialTestResult
    let environment: PushEnvironment
    let app: Topic

    private var roundTrip: Double? { self.test.roundTrip.map { ($0 / .milliseconds(1) * 10).rounded() / 10 } }

    package static let schemaName: String? = "CredentialTest"
    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("works", \.test.isProven, "Whether pushes of the app would be accepted."),
        .required("host", \.test.host),
        .required("port", \.test.port),
        .optional("reached", \.test.isReached, "Whether there was a connection. A step that was not made is absent."),
        .optional("trusted", \.test.isTrusted, "Whether the TLS handshake succeeded."),
        .optional("credentialAccepted", \.test.isCredentialAccepted),
        .optional("topicAllowed", \.test.isTopicAllowed, "Whether the credential may send to the app's bundle id."),
        .optional("reason", \.test.reason, "The push service's reason, or that of the failure."),
        .optional("cause", \.test.fault?.cause.rawValue, as: .choice(of: ConfigurationFault.Cause.self)),
        .optional("message", \.test.fault?.description, "What is wrong, in one sentence."),
        .optional("advice", { $0.test.fault?.advice(app: $0.app, $0.environment) }, "What to change."),
        .optional("roundTripMs", \.roundTrip, "From a push to its response, over an open connection."),
        .optional("expiresAtMs", \.test.expires, "The expiration of a certificate."),
    ]
}

/// The response object for a credential, without its secret.
package struct CredentialResponse: ResponseObject {
    let record: CredentialRecord
    let transport: PushTransport
    package let environment: PushEnvironment
    /// The credential in the form that a sender uses, or the reason why it cannot be used, such as a certificate that
    /// does not parse.
    private let credential: Result<PushCredential, CredentialError>

    init(_ record: CredentialRecord, over transport: PushTransport, environment: PushEnvironment) {
        (self.record, self.transport, self.environment) = (record, transport, environment)
        self.credential = Result { () throws(CredentialError) in try record.credential() }
    }

    private var certificate: ClientCertificate? {
        if case .success(.certificate(let certificate)) = self.credential { certificate } else { nil }
    }
    private var fault: String? { if case .failure(let error) = self.credential { error.description } else { nil } }
    /// The ids of the team and of the token key, or `nil` for a certificate, which has neither.
    private var key: (team: String, id: String)? {
        guard case .key(let team, let id, _) = self.record else { return nil }
        return (team, id)
    }
    package var kind: String { self.record.kind }
    package var topics: [String]? { self.certificate?.topics.map(\.topic.name) }
    /// The expiration of a certificate, or `nil` for a token key.
    package var expires: Timestamp? { self.certificate?.expires }

    package static let schemaName: String? = "Credential"
    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("kind", \.kind, as: .choice(["key", "certificate", "p12"])),
        .required("transport", \.transport, "The protocol of pushes with it."),
        .optional("teamId", \.key?.team),
        .optional("keyId", \.key?.id),
        .optional("subject", \.certificate?.commonName),
        .optional("topics", \.topics),
        .optional("validFromMs", \.certificate?.validFrom),
        .optional("expiresAtMs", \.expires),
        .optional("fault", \.fault, "The reason for which it cannot be used."),
    ]
}

extension PushTransport: JSONRepresentable {}

private struct StopResponse: ResponseObject {
    let underWay: Int

    static let schemaName: String? = "Stop"
    static let members: [ResponseMember<Self>] = [
        .required("underWay", \.underWay, "The pushes that could not be taken back: the last ones.")
    ]
}
