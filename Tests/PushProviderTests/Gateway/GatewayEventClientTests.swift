import Foundation
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The reader of a gateway's events, against a server that does not behave.
@Suite(.timeLimit(.patience)) struct GatewayEventClientTests {
    @Test(arguments: [
        "", "x", "127.0.0.1:2198", "ftp://127.0.0.1", "http://", "http://host/v1", "http://user@host",
        "http://host?x=1", "http://host#x", "file:///etc/passwd",
    ])
    func onlyTheURLOfAServerIsTaken(text: String) {
        #expect(GatewayEventClient(url: text) == nil)
    }

    @Test func aSlashAtTheEndIsLeftOut() {
        #expect(GatewayEventClient(url: "http://host:1/")?.url == "http://host:1")
        #expect(GatewayEventClient(url: "https://host")?.url == "https://host")
    }

    @Test func eventsComeInTheOrderOfTheirTimes() async throws {
        let body = #"""
            {"events":[{"id":9,"name":"delivered","event":"Delivered to Device","timeMs":1700000000020,"apnsId":"A"},
            {"id":8,"name":"received","event":"Received by APNs","timeMs":1700000000010},{"id":"x"},7,null]}
            """#
        let events = try await Self.events(responding: Self.response(body))
        #expect(events.map(\.name) == ["received", "delivered"])
        #expect(events.map(\.text) == ["Received by APNs", "Delivered to Device"])
        #expect(events.map(\.apnsID) == [nil, "A"])
    }

    @Test(arguments: [
        "", "garbage\r\n\r\n", Self.response("nonsense"), Self.response("{}"), Self.response("[]"),
        Self.response(#"{"events":7}"#), "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{",
        Self.response(String(repeating: " ", count: 1024 * 1024 + 1)),
    ])
    func garbageIsAFailureThatNamesTheGateway(response: String) async throws {
        await #expect(throws: GatewayEventsFailure.self) { _ = try await Self.events(responding: response) }
    }

    @Test func aGatewayThatIsSilentOrAwayIsANote() async throws {
        let silent = try await Self.reading(responding: nil)
        guard case .failed(let text) = silent else {
            Issue.record("\(silent)")
            return
        }
        #expect(text.contains("http://127.0.0.1:"))
        let port = try RefusingPort()
        var gateway = try #require(GatewayEventClient(url: "http://127.0.0.1:\(port.number)"))
        gateway.deadline = .seconds(2)
        var readings = GatewayEventReader(of: gateway)
        guard case .failed = await readings.reading(of: "x") else {
            Issue.record("nothing listens there")
            return
        }
    }

    /// Times that no push has, such as the smallest number, are no events.
    @Test func eventsOfAbsurdTimesAreLeftOut() async throws {
        let times = [
            Int64.min, -1, 0, 946_684_799_999, 946_684_800_000, 253_402_300_799_999, 253_402_300_800_000, .max,
        ]
        let values = times.map { #"{"id":1,"name":"received","timeMs":\#($0)}"# }
        let body = #"{"events":[\#(values.joined(separator: ","))]}"#
        let events = try await Self.events(responding: Self.response(body))
        #expect(events.map(\.at.milliseconds) == [946_684_800_000, 253_402_300_799_999])
    }

    /// A silent gateway delays a response once: it is asked for the first push only.
    @Test func aGatewayThatFailedIsNotAskedAgain() async throws {
        #expect(try await Self.requestsForTwentyPushes(responding: Self.response("nonsense"), within: .patience) == 1)
        try await withGrowingLimit { limit in
            let requests = try await Self.requestsForTwentyPushes(responding: nil, within: limit)
            #expect(requests <= 1)
            return requests == 1
        }
    }

    /// Returns the number of requests that a gateway receives which fails.
    private static func requestsForTwentyPushes(responding response: String?, within limit: Duration) async throws
        -> Int
    {
        let requests = Mutex(0)
        let respond: @Sendable (String) -> String? = { _ in
            requests.withLock { $0 += 1 }
            return response
        }
        try await RawServer.run(responding: respond) { port in
            var gateway = try #require(GatewayEventClient(url: "http://127.0.0.1:\(port)"))
            gateway.deadline = limit
            var readings = GatewayEventReader(of: gateway)
            var texts: Set<String> = []
            for number in 1...20 {
                guard case .failed(let text) = await readings.reading(of: "\(number)") else { continue }
                texts.insert(text)
            }
            #expect(texts.count == 1)
            #expect(texts.first?.contains("the events of the gateway at http://127.0.0.1:\(port)") == true)
        }
        return requests.withLock { $0 }
    }

    private static func response(_ body: String) -> String { RawServer.response(body) }

    private static func events(responding response: String) async throws -> [GatewayEvent] {
        try await RawServer.run(responding: { _ in response }) { port in
            var gateway = try #require(GatewayEventClient(url: "http://127.0.0.1:\(port)"))
            gateway.deadline = .patience
            return try await gateway.events(apnsID: "a b&c")
        }
    }

    private static func reading(responding response: String?) async throws -> GatewayFacts {
        try await RawServer.run(responding: { _ in response }) { port in
            var gateway = try #require(GatewayEventClient(url: "http://127.0.0.1:\(port)"))
            gateway.deadline = .milliseconds(300)
            var readings = GatewayEventReader(of: gateway)
            return await readings.reading(of: "x")
        }
    }
}
