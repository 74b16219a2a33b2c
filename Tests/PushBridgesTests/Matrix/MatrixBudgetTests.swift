import Foundation
import ProviderAPI
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// The amounts that homeservers, which bring no credentials, may take.
@Suite(.timeLimit(.patience)) struct MatrixBudgetTests {
    private static func madeUp(_ numbers: Range<Int>) -> JSONValue {
        let devices = numbers.map { number -> JSONValue in
            ["app_id": .string(MatrixVectors.appID), "pushkey": .string(DeviceToken.numbered(number).hex)]
        }
        return MatrixVectors.body(["event_id": .string("$\(numbers.lowerBound)"), "devices": .array(devices)])
    }

    /// They would fill the ledger, and be sent to the push service.
    @Test func madeUpPushkeysHaveASmallRate() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender, time: ManualTime()) { matrix in
            _ = try await matrix.provider.register(Vectors.tokenA, ["environment": "production"])
            var statuses: [Int] = []
            for number in 0..<10 {
                let body = Self.madeUp((1000 + 100 * number)..<(1100 + 100 * number))
                statuses.append(try await matrix.notify(body).status)
            }
            #expect(statuses.first == 200 && statuses.last == 429)
            let refused = try await matrix.event("$new", DeviceToken.numbered(5000).hex)
            #expect(refused.json["errcode"] == "M_LIMIT_EXCEEDED" && refused.headers["retry-after"] != nil)
            // A device of the app is none of them, and one that was reached either.
            #expect(try await matrix.event("$known").status == 200)
            #expect(sender.sent.count < 400)
        }
    }

    @Test func theContentOfARefusedPushkeyIsNotKept() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            sender.script(.numbered(7), .rejected(Rejection(status: 400, reasonText: "BadDeviceToken")))
            _ = try await matrix.provider.register(Vectors.tokenA, ["environment": "production"])
            _ = try await matrix.event("$1", DeviceToken.numbered(7).hex)
            _ = try await matrix.event("$2")
            let ids = try await matrix.ledger(2).compactMap { $0["id"].stringValue }
            var payloads: [JSONValue] = []
            for id in ids {
                let notification = try await matrix.provider.api.get("/v1/notifications/\(id)")
                payloads.append(notification.json["content"]["payload"])
            }
            #expect(payloads.count { $0 == [:] } == 1, "\(payloads)")
        }
    }

    /// An announced length holds nothing, and bodies count as they arrive.
    @Test func bytesInFlightAreBoundedWhileTheyArrive() async throws {
        // An address has half of it. A small request that is worked on takes a payload, 32 KiB.
        let bounds = BudgetLimits.Levels<BudgetBound>(whole: .held(256 * 1024), caller: .timesFree(1))
        try await withMatrix(configure: { $0.budgetLimits[.matrixBytes] = BudgetLimits(bounds) }) { matrix in
            let length = MatrixNotification.maximumBody
            let slow = try await RawConnection.open(port: matrix.port)
            slow.write("POST \(MatrixVectors.path) HTTP/1.1\r\nhost: a\r\ncontent-length: \(length)\r\n\r\n".utf8)
            #expect(try await matrix.event("$0").status == 200)
            slow.write(Array(repeating: UInt8(ascii: " "), count: 110 * 1024))
            let refused = try await Self.event(of: matrix, "$", until: 429)
            #expect(refused.json["errcode"] == "M_LIMIT_EXCEEDED")
            await slow.close()
            _ = try await Self.event(of: matrix, "$after", until: 200)
        }
    }

    /// Returns the response to the first of some events that has a status.
    private static func event(
        of matrix: RunningMatrix,
        _ id: String,
        until status: Int
    ) async throws -> JSONClient.Response {
        var (number, response) = (0, try await matrix.event("\(id)0"))
        while response.status != status {
            try Task.checkCancellation()
            number += 1
            response = try await matrix.event("\(id)\(number)")
        }
        return response
    }

    @Test func anAddressLeavesBytesToOthers() throws {
        let budget = Budget(.matrixBytes)
        func take(_ network: UInt8) -> [BudgetPermit] {
            let caller = BudgetCaller(.network([network]))
            let size = MatrixRoutes.size(ofRequest: MatrixNotification.maximumBody)
            return (0..<100).compactMap { _ in try? budget.take(size, for: caller) }
        }
        let first = take(1)
        #expect(!first.isEmpty && first.count < 16)
        #expect(!take(2).isEmpty)
    }

    /// What is made of a request has several times its size.
    @Test func theValuesOfARequestCount() async throws {
        let bounds = BudgetLimits.Levels<BudgetBound>(whole: .held(256 * 1024))
        try await withMatrix(configure: { $0.budgetLimits[.matrixBytes] = BudgetLimits(bounds) }) { matrix in
            func status(_ size: Int) async throws -> Int {
                let content: JSONValue = ["body": .string(String(repeating: "x", count: size))]
                return try await matrix.notify(MatrixVectors.body(["event_id": "$1", "content": content])).status
            }
            let statuses = [try await status(16 * 1024), try await status(40 * 1024)]
            #expect(statuses == [200, 429])
        }
    }

    /// A homeserver repeats a request that is refused as a whole.
    @Test func aRequestThatIsRefusedTakesNothing() async throws {
        let configure: (inout ProviderConfiguration) -> Void = {
            $0.budgetLimits[.matrixPushes] = BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 1)))
            $0.budgetLimits[.unknownTokens] = BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 5)))
        }
        try await withMatrix(time: ManualTime(), configure: configure) { matrix in
            _ = try await matrix.provider.register(Vectors.tokenA, ["environment": "production"])
            #expect(try await matrix.event("$1").status == 200)
            let known: JSONValue = ["app_id": .string(MatrixVectors.appID), "pushkey": .string(MatrixVectors.tokenA)]
            let others = Self.madeUp(1..<6)["notification"]["devices"].elements
            for number in 2..<5 {
                let members: [String: JSONValue] = [
                    "event_id": .string("$\(number)"), "devices": .array(others + [known]),
                ]
                // The known pushkey has had its push.
                #expect(try await matrix.notify(MatrixVectors.body(members)).status == 429)
            }
            #expect(try await matrix.notify(Self.madeUp(1..<6)).status == 200)
            #expect(try await matrix.notify(Self.madeUp(6..<7)).status == 429)
        }
    }

    @Test func aTokenIsKnownInItsEnvironment() async throws {
        let parts = Mutex<ProviderComponents?>(nil)
        try await withBridges(capture: { value in parts.withLock { $0 = value } }) { provider in
            try await provider.addVectorsApp(in: PushEnvironment.allCases)
            try await provider.setBridge("matrix", MatrixVectors.appID, [:], ["environment": "production"])
            let matrix = RunningMatrix(provider: provider, homeserver: provider.stranger)
            let store = try #require(parts.withLock { $0 }).store
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try #require(try await store.app(bundleID: bundleID)).id
            let (known, reached) = (KnownTokens(store: store), DeviceToken.numbered(7))
            #expect(try await known.unknown([reached], of: app, in: .production) == [reached])
            #expect(try await matrix.event("$1", reached.hex).status == 200)
            try await matrix.ledger(1)
            let both: Set<DeviceToken> = [reached, .numbered(8)]
            #expect(try await known.unknown(both, of: app, in: .production) == [.numbered(8)])
            #expect(try await known.unknown(both, of: app, in: .sandbox) == both)
        }
    }

    @Test func aRequestIsForwardedOnceAtMost() async throws {
        try await withMatrix(settings: ["unifiedPush": true]) { matrix in
            let devices = (0..<2).map { number -> JSONValue in
                ["app_id": .string(MatrixVectors.appID), "pushkey": .string("https://push.example/\(number)")]
            }
            let response = try await matrix.notify(MatrixVectors.body(["devices": .array(devices)]))
            #expect(response.status == 400 && response.json["errcode"] == "M_BAD_JSON")
        }
    }
}
