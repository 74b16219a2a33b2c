import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushDevice

/// Callers, responses and sessions, in every order.
@Suite(.timeLimit(.patience)) struct TokenRequestsTests {
    private let requests = TokenRequests()
    private let token: [UInt8] = [1, 2, 3]

    @Test func aTokenIsRequestedOnTheSessionAndGivenToAllCallers() async throws {
        let topic = try #require(Topic("com.example.App"))
        let (asked, continuation) = AsyncStream.makeStream(of: Topic.self)
        self.requests.attach { continuation.yield($0) }
        async let first = self.requests.token(for: topic, timeout: .patience)
        async let second = self.requests.token(for: topic, timeout: .patience)
        var count = 0
        for await request in asked {
            #expect(request == topic)
            count += 1
            if count == 2 { break }
        }
        self.requests.receive(self.response(topic))
        #expect(try await [first, second] == ["010203", "010203"])
        #expect(self.requests.topics == [topic])
        #expect(self.requests.topic(for: TopicHash(topic)) == topic)
        // A known token needs no session.
        self.requests.attach(nil)
        #expect(try await self.requests.token(for: topic, timeout: .zero) == "010203")
    }

    @Test func aResponseDuringTheRequestIsNotMissed() async throws {
        let topic = try #require(Topic("com.example.App"))
        self.requests.attach { self.requests.receive(self.response($0)) }
        #expect(try await self.requests.token(for: topic, timeout: .patience) == "010203")
    }

    @Test func aNewTokenReplacesTheOldOne() async throws {
        let topic = try #require(Topic("com.example.App"))
        self.requests.receive(self.response(topic))
        self.requests.receive(DeviceLinkTokenResponse(status: 0, token: [4], topic: TopicHash(topic)))
        #expect(try await self.requests.token(for: topic, timeout: .zero) == "04")
    }

    @Test(arguments: [(2, [1, 2, 3]), (0, [])] as [(UInt8, [UInt8])])
    func aResponseWithoutATokenIsAnError(status: UInt8, token: [UInt8]) async throws {
        let topic = try #require(Topic("com.example.App"))
        self.requests.attach {
            self.requests.receive(DeviceLinkTokenResponse(status: status, token: token, topic: TopicHash($0)))
        }
        await #expect(throws: DeviceError.topicNotRegistered("com.example.App")) {
            try await self.requests.token(for: topic, timeout: .patience)
        }
    }

    @Test func withoutASessionTheRequestTimesOutAndTheTopicStays() async throws {
        let topic = try #require(Topic("com.example.App"))
        await #expect(throws: DeviceError.tokenTimeout("com.example.App")) {
            try await self.requests.token(for: topic, timeout: .milliseconds(1))
        }
    }

    private func response(_ topic: Topic) -> DeviceLinkTokenResponse {
        DeviceLinkTokenResponse(status: 0, token: self.token, topic: TopicHash(topic))
    }
}
