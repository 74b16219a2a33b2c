import Foundation
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Collects the problems that the monitors and the store have detected.
struct HealthChecker: Sendable {
    let store: SQLStore
    let faults: ConfigurationFaultTracker
    let expiry: CredentialExpiryMonitor
    let files: FileMonitor
    let time: any TimeSource

    /// The maximum number of problems with bridges that are reported, and likewise with schedules and with webhooks.
    /// Further ones are omitted.
    private static let maximum = 50
    private static let longLog = 256 * 1024 * 1024
    /// The free disk space below which a problem is reported, in bytes.
    private static let leastSpace = 1024 * 1024 * 1024

    /// Returns the problems of the given apps, the most severe kinds first, or an empty list if there are none.
    /// - Parameter includesServer: Pass `true` to include problems of the server, such as little disk space.
    func all(_ apps: [AppRecord], includesServer: Bool) async throws -> [HealthProblem] {
        let names = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.bundleID) })
        var all = try await self.stops(names) + self.pauses(names) + self.breakers(Set(names.values))
        all += self.certificates(Set(names.values))
        all += try await self.bridges(names) + self.schedules(names) + self.webhooks(names)
        all += await self.missingFiles(names)
        if includesServer { all += self.server() + (try await self.lostNodes()) }
        let order = Dictionary(uniqueKeysWithValues: HealthProblem.Code.allCases.enumerated().map { ($1, $0) })
        return all.sorted { (order[$0.code] ?? 0, $0.app?.name ?? "") < (order[$1.code] ?? 0, $1.app?.name ?? "") }
    }

    private func stops(_ names: [Int64: Topic]) async throws -> [HealthProblem] {
        try await self.store.stops().compactMap { stop in
            guard let app = names[stop.app] else { return nil }
            let (by, reason) = (stop.by.map { " by \($0.name)" } ?? "", stop.reason.map { ": \($0)" } ?? "")
            return HealthProblem(
                code: .appStopped,
                app: app,
                message: "everything of \(app.name) is stopped\(by)\(reason)",
                remedy: "martlet app resume \(app.name)",
                since: stop.since
            )
        }
    }

    private func pauses(_ names: [Int64: Topic]) async throws -> [HealthProblem] {
        try await self.faults.pauses().compactMap { pause in
            guard let app = names[pause.target.app] else { return nil }
            let environment = pause.target.environment
            return HealthProblem(
                code: .environmentPaused,
                app: app,
                environment: environment,
                message: pause.fault.description,
                remedy: pause.fault.advice(app: app, environment),
                since: pause.since
            )
        }
    }

    private func breakers(_ apps: Set<Topic>) async throws -> [HealthProblem] {
        try await self.store.statistics(now: self.time.steady).openBreakers.filter { apps.contains($0.bundleID) }.map {
            HealthProblem(
                code: .breakerOpen,
                app: $0.bundleID,
                environment: $0.environment,
                message: "too many tokens would be deactivated at once, so none is",
                remedy: "See the withheld tokens, then apply or discard them: martlet hygiene."
            )
        }
    }

    private func certificates(_ apps: Set<Topic>) -> [HealthProblem] {
        let now = self.time.now
        return self.expiry.certificates.compactMap { certificate in
            let left = certificate.expires.since(now)
            guard apps.contains(certificate.bundleID), left <= .seconds(CertificateExpiryStage.first * 86_400) else {
                return nil
            }
            let (app, environment) = (certificate.bundleID, certificate.environment)
            let hasEnded = left <= .zero
            let end = certificate.expires.rfc3339
            return HealthProblem(
                code: hasEnded ? .certificateExpired : .certificateEnds,
                app: app,
                environment: environment,
                message: hasEnded ? "the certificate has expired at \(end)" : "the certificate ends at \(end)",
                remedy: "Set a new one: martlet credential set \(environment.rawValue) … --app \(app.name)",
                since: certificate.expires
            )
        }
    }

    private func bridges(_ names: [Int64: Topic]) async throws -> [HealthProblem] {
        try await self.store.overruledBridges(apps: names.keys.sorted(), limit: Self.maximum).map { bridge in
            let name = "the \(bridge.kind.rawValue) bridge “\(bridge.name)”"
            return HealthProblem(
                code: .bridgeOverruled,
                app: names[bridge.app],
                object: bridge.name,
                message: "\(name) loses pushes to another app, with whose bundle id its name begins",
                remedy: """
                    Remove it. If the pushes are this app's, set a bridge whose name begins with this app's bundle id.
                    """
            )
        }
    }

    private func schedules(_ names: [Int64: Topic]) async throws -> [HealthProblem] {
        try await self.store.schedulesWithProblems(apps: names.keys.sorted(), limit: Self.maximum).map { schedule in
            HealthProblem(
                code: .scheduleProblem,
                app: names[schedule.app],
                object: schedule.id.uuidString,
                message: "schedule “\(schedule.name)”: \(schedule.problem?.message ?? "")",
                remedy: "See what it sends and when: martlet schedule show \(schedule.id.uuidString)",
                since: schedule.problem?.at
            )
        }
    }

    private func webhooks(_ names: [Int64: Topic]) async throws -> [HealthProblem] {
        let failing = try await self.store.webhooks(app: nil).filter { names[$0.app] != nil && $0.failures > 0 }
        return failing.prefix(Self.maximum).map { webhook in
            let error = webhook.lastError ?? "no response"
            let id = webhook.id.uuidString
            return HealthProblem(
                code: webhook.isActive ? .webhookFailing : .webhookDisabled,
                app: names[webhook.app],
                object: id,
                message: webhook.isActive
                    ? "\(webhook.failures) posts to a webhook have failed: \(error)"
                    : "a webhook was given up after \(webhook.failures) failed posts: \(error)",
                remedy: webhook.isActive
                    ? "Mend the receiver, and test it: martlet webhook test \(id)"
                    : "Mend the receiver, then: martlet webhook enable \(id)",
                since: webhook.lastSuccessAt
            )
        }
    }

    private func missingFiles(_ names: [Int64: Topic]) async -> [HealthProblem] {
        let missing = Dictionary(grouping: await self.files.missing(), by: \.app)
        return missing.compactMap { id, files in
            guard let app = names[id] else { return nil }
            return HealthProblem(
                code: .filesMissing,
                app: app,
                message: MissingFilesText.text(files, in: self.files.folder),
                remedy: MissingFilesText.remedy
            )
        }
    }

    /// Returns the nodes that have ended without notice, until a node of the same name starts.
    private func lostNodes() async throws -> [HealthProblem] {
        guard self.store.isShared else { return [] }
        let nodes = try await self.store.nodes()
        return nodes.compactMap { node in
            guard let endedAt = node.endedAt, endedAt.since(node.seenAt) >= NodeBeat.patience,
                !nodes.contains(where: { $0.id > node.id && $0.description.name == node.description.name })
            else { return nil }
            return HealthProblem(
                code: .nodeLost,
                object: node.description.name,
                message: "the node \(node.description.name) stopped without notice; the others have taken over from it",
                remedy: "Start it again. If it still runs, see whether it reaches the database.",
                since: node.seenAt
            )
        }
    }

    private func server() -> [HealthProblem] {
        var all: [HealthProblem] = []
        if let free = self.store.availableBytes, free < max(Self.leastSpace, self.store.fileBytes / 4) {
            let message = "\(free / 1_000_000) MB are free on the disk of the database"
            let remedy = "Free space there: without any, nothing is accepted."
            all.append(HealthProblem(code: .diskLow, message: message, remedy: remedy))
        }
        if self.store.logBytes > Self.longLog {
            let message = "the log beside the database has \(self.store.logBytes / 1_000_000) MB"
            let remedy = "End the backup, check or other program that holds an old state of the database."
            all.append(HealthProblem(code: .logGrows, message: message, remedy: remedy))
        }
        return all
    }
}
