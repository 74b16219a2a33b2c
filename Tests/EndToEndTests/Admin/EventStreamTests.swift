import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Testing

/// Server-sent events, as an HTTP client reads them.
@Suite(.timeLimit(.patience)) struct EventStreamTests {
    @Test func eventsComeAsTheyHappen() async throws {
        try await self.withGateway { gateway in
            var reader = try await EventReader(gateway)
            let one = try await gateway.add()
            let two = try await gateway.add()
            for identity in [one, two] {
                let event = try #require(try await reader.next())
                #expect(event["event"] == "device_activated")
                let data = try JSONValue(parsing: Data((event["data"] ?? "").utf8))
                #expect(data["device"].stringValue == identity.deviceID)
                #expect(data["id"].integerValue.map { "\($0)" } == event["id"])
            }
        }
    }

    @Test func aReaderThatComesBackMissesNothing() async throws {
        try await self.withGateway { gateway in
            var ids: [String] = []
            for _ in 0..<3 { ids.append(try await gateway.add().deviceID) }
            var reader = try await EventReader(gateway, headers: ["last-event-id": "1"])
            ids.append(try await gateway.add().deviceID)
            for (number, id) in ids.enumerated().dropFirst() {
                let event = try #require(await reader.next())
                #expect(event["id"] == "\(number + 1)")
                #expect(event["data"]?.contains(id) == true)
            }
        }
    }

    @Test func onlyWhatIsWantedComes() async throws {
        try await self.withGateway { gateway in
            let (one, two) = (try await gateway.add(), try await gateway.add())
            var reader = try await EventReader(gateway, query: "?device=\(two.deviceID)&after=0")
            #expect(try await gateway.admin.delete("/v1/devices/\(one.deviceID)").status == 204)
            #expect(try await gateway.admin.delete("/v1/devices/\(two.deviceID)").status == 204)
            #expect(try await reader.next()?["event"] == "device_activated")
            #expect(try await reader.next()?["event"] == "device_deleted")
        }
    }

    @Test func theStreamEndsWithTheGateway() async throws {
        // On a busy machine the end of a stream may take longer than a gateway gives it.
        let end = try await self.withGateway(farewell: .patience) { gateway in
            let (open, opened) = AsyncStream.makeStream(of: Void.self)
            let end = Task {
                var reader = try await EventReader(gateway)
                opened.finish()
                return try await reader.next()
            }
            for await _ in open {}
            return end
        }
        // The gateway has ended: it did not wait for the one who watched.
        #expect(try await end.value == nil)
    }

    @Test func watchersAreBoundedAndThoseWhoLeaveMakeRoom() async throws {
        try await self.withGateway { gateway in
            var readers: [EventReader] = []
            while readers.count < 32 { readers.append(try await EventReader(gateway)) }
            let refused = try await gateway.admin.get("/v1/events/stream")
            #expect(refused.status == 503)
            #expect(refused.code == "too_many_watchers")
            readers.removeAll()
            while try await gateway.admin.metric("martlet_gateway_event_watchers") > 0 { try Task.checkCancellation() }
            _ = try await EventReader(gateway)
        }
    }

    @Test(arguments: ["-1", "x", "99999999999999999999"])
    func anInvalidIDIsRejected(id: String) async throws {
        try await self.withGateway { gateway in
            let answer = try await gateway.admin.call("GET", "/v1/events/stream", nil, headers: ["last-event-id": id])
            #expect(answer.status == 400)
            #expect(answer.field == "last-event-id")
        }
    }

    private func withGateway<Value: Sendable>(
        farewell: Duration? = nil,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { directory in
            try await PushTesting.withGateway(in: directory) { configuration in
                if let farewell { configuration.limits.adminDrain = farewell }
            } _: { gateway in
                try await body(gateway)
            }
        }
    }
}

/// Reads an event stream. It is open once this is made.
struct EventReader {
    /// One that opens as many connections as it is asked for.
    private static let client = {
        var configuration = HTTPClient.Configuration(timeout: .patience)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var text = ""

    @concurrent init(_ gateway: RunningGateway, query: String = "", headers: [String: String] = [:]) async throws {
        var request = HTTPClientRequest(url: "\(gateway.admin.baseURL)/v1/events/stream\(query)")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let response = try await Self.client.execute(request, deadline: .distantFuture)
        #expect(response.status == .ok)
        #expect(response.headers.first(name: "content-type") == "text/event-stream")
        self.iterator = response.body.makeAsyncIterator()
        // The first comment says that the gateway watches.
        _ = try await self.block()
    }

    /// The fields of the next event; `nil` at the end.
    @concurrent mutating func next() async throws -> [String: String]? {
        while let block = try await self.block() {
            let fields = block.split(separator: "\n").compactMap { line -> (String, String)? in
                guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
                return (String(line[..<colon]), String(line[line.index(colon, offsetBy: 2)...]))
            }
            if !fields.isEmpty { return Dictionary(fields) { $1 } }
        }
        return nil
    }

    @concurrent private mutating func block() async throws -> String? {
        while true {
            if let end = self.text.range(of: "\n\n") {
                defer { self.text.removeSubrange(..<end.upperBound) }
                return String(self.text[..<end.lowerBound])
            }
            guard let bytes = try await self.iterator.next() else { return nil }
            self.text += String(buffer: bytes)
        }
    }
}
