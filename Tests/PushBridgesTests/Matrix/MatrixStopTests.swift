import Foundation
import PushHTTP
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// Pushkeys that are addresses, of an app that is stopped.
@Suite(.timeLimit(.patience)) struct MatrixStopTests {
    private static let address = "https://push.example/1"

    /// Returns an event for some pushkeys.
    private static func body(_ event: String, _ pushkeys: String...) -> JSONValue {
        let devices = pushkeys.map { pushkey -> JSONValue in
            ["app_id": .string(MatrixVectors.appID), "pushkey": .string(pushkey)]
        }
        let members: [String: JSONValue] = ["event_id": .string(event), "devices": .array(devices)]
        return MatrixVectors.body(members)
    }

    private static func run(
        _ forwarder: RecordedForwarder,
        _ body: @escaping @Sendable (RunningMatrix) async throws -> Void
    ) async throws {
        try await withProvider(senders: ScriptedSender(), addition: { MatrixAlone($0, forwarder) }) { provider in
            try await provider.addVectorsApp(in: PushEnvironment.allCases)
            let settings: JSONValue = ["unifiedPush": true]
            try await provider.api.put(RunningMatrix.bridge, ["environment": "production", "settings": settings])
            try await body(RunningMatrix(provider: provider, homeserver: JSONClient(baseURL: provider.api.baseURL)))
        }
    }

    private static func count(_ matrix: RunningMatrix) async throws -> Int {
        try await matrix.provider.api.get("\(RunningMatrix.app)/notifications").json["notifications"].elements.count
    }

    /// The homeserver keeps what no ledger does, and repeats the whole request: nothing of it is accepted before.
    @Test func aStoppedAppForwardsNothing() async throws {
        let forwarder = RecordedForwarder()
        forwarder.mayEnd.open()
        try await Self.run(forwarder) { matrix in
            let stop = try await matrix.provider.api.post("\(RunningMatrix.app):pause", [:])
            #expect(stop.json["underWay"] == 0)
            let both = Self.body("$1", MatrixVectors.tokenA, Self.address)
            let refused = try await matrix.notify(both)
            #expect(refused.status == 503)
            #expect(refused.json["errcode"] == "M_UNKNOWN")
            #expect(refused.json["retry_after_ms"] == 60_000)
            #expect(refused.headers["retry-after"] == "61")
            #expect(try await Self.count(matrix) == 0)
            #expect(forwarder.endpoints.isEmpty)
            // A push waits in the ledger, as all others of the app do.
            #expect(try await matrix.notify(Self.body("$2", MatrixVectors.tokenA)).status == 200)
            #expect(try await Self.count(matrix) == 1)
            try await matrix.provider.api.post("\(RunningMatrix.app):resume", [:])
            #expect(try await matrix.notify(both).status == 200)
            #expect(try await Self.count(matrix) == 2)
            #expect(forwarder.endpoints == [Self.address])
        }
    }

    @Test func whatIsBeingForwardedIsUnderWay() async throws {
        let forwarder = RecordedForwarder()
        try await Self.run(forwarder) { matrix in
            async let response = matrix.notify(Self.body("$1", Self.address))
            await forwarder.began.pass()
            let stop = try await matrix.provider.api.post("\(RunningMatrix.app):pause", [:])
            forwarder.mayEnd.open()
            #expect(stop.json["underWay"] == 1)
            let status = try await response.status
            #expect(status == 200)
            #expect(try await matrix.provider.api.post("\(RunningMatrix.app):pause", [:]).json["underWay"] == 0)
        }
    }
}

/// A forwarder that records the endpoints, and keeps messages until it may end.
private struct RecordedForwarder: NotificationForwarder {
    let began = Gate()
    let mayEnd = Gate()
    private let recorded = RecordedEndpoints()

    var endpoints: [String] { self.recorded.all.withLock { $0 } }

    private final class RecordedEndpoints: Sendable {
        let all = Mutex<[String]>([])
    }

    func forward(
        _ body: [UInt8],
        to endpoint: String,
        of app: MatrixApp,
        for client: BudgetCaller
    ) async throws -> UnifiedPushOutcome {
        self.recorded.all.withLock { $0.append(endpoint) }
        self.began.open()
        await self.mayEnd.pass()
        return .accepted
    }
}
