import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushHTTP

/// Connections that have shown an account, and then requests that never come whole or never end.
extension ConnectionLimiterTests {
    // MARK: Requests that do not come whole

    @Test func aRequestThatDoesNotComeWholeMakesRoom() throws {
        let listener = Listener(self.loop, whole: 4)
        let reader = self.key("reader")
        let channels = try (0..<2).map { _ in try listener.open(1, reader) }
        for channel in channels { try channel.writeInbound(HTTPRequestPart.get) }
        let further = try listener.open()
        #expect(throws: BudgetRefusal.self) { try listener.held.assign(further, to: reader) }
        #expect(channels.allSatisfy { $0.isActive })
        // However it drips.
        self.loop.advanceTime(by: .seconds(1))
        for channel in channels { try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "a"))) }
        try listener.held.assign(further, to: reader)
        self.loop.run()
        #expect(further.isActive && channels.count(where: \.isActive) == 1)
        #expect(listener.budget.usage(of: reader).held == 2)
    }

    @Test func aBodyThatComesAtItsRateIsKept() throws {
        let listener = Listener(self.loop, whole: 4)
        let reader = self.key("reader")
        let channels = try (0..<2).map { _ in try listener.open(1, reader) }
        for channel in channels { try channel.writeInbound(HTTPRequestPart.get) }
        channels[0].pipeline.fireUserInboundEventTriggered(StreamedBody(minimumBytes: 16 * 1024))
        for _ in 0..<5 {
            self.loop.advanceTime(by: .seconds(1))
            let bytes = ByteBuffer(repeating: 0x20, count: ConnectionActivity.bodyStep)
            try channels[1].writeInbound(HTTPRequestPart.body(bytes))
        }
        let further = try listener.open()
        #expect(throws: BudgetRefusal.self) { try listener.held.assign(further, to: reader) }
        #expect(channels.allSatisfy { $0.isActive })
        // The one with a rate of its own is closed by that alone.
        self.loop.advanceTime(by: .seconds(1))
        try listener.held.assign(further, to: reader)
        self.loop.run()
        #expect(channels.map(\.isActive) == [true, false])
    }

    @Test func aRequestThatComesWholeMeanwhileIsAnswered() throws {
        let listener = Listener(self.loop, whole: 2)
        let reader = self.key("reader")
        let channel = try listener.open(1, reader)
        let events = EventRecorder()
        try channel.pipeline.syncOperations.addHandler(events)
        try channel.writeInbound(HTTPRequestPart.get)
        let further = try listener.open()
        self.loop.advanceTime(by: .seconds(1))
        try listener.held.assign(further, to: reader)
        channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil))
        self.loop.run()
        #expect(channel.isActive && events.count == 1)
        #expect(listener.budget.usage(of: reader).held == 1)
        self.loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive && further.isActive)
    }

    // MARK: Clients of an app

    /// Opens connections of an account, of which each has a request for good, until one is refused.
    /// - Returns: Their number.
    private func fill(_ listener: Listener, _ account: BudgetCaller) throws -> Int {
        var count = 0
        while true {
            let channel = try listener.open()
            try listener.begin(channel)
            do {
                try listener.held.assign(channel, to: account)
                count += 1
            } catch {
                channel.close(promise: nil)
                self.loop.run()
                return count
            }
        }
    }

    private func client(_ network: UInt8) -> BudgetCaller {
        BudgetCaller(app: self.news, .network([10, 0, 0, network]))
    }

    /// Strangers who have as many addresses of an app as they like.
    @Test func clientsOfAnAppLeaveRoomToItsKeysAndToEachOther() throws {
        let listener = Listener(self.loop, whole: 24)
        let backEnd = try listener.open(1, self.key("back end", of: self.news))
        #expect(try self.fill(listener, self.client(1)) == 8)
        #expect(try self.fill(listener, self.client(2)) == 3)
        #expect(try self.fill(listener, self.client(3)) == 1)
        // They have half of the connections, and take none of a key's, idle as it may be.
        #expect(try self.fill(listener, self.client(4)) == 0)
        #expect(backEnd.isActive)
        #expect(try self.fill(listener, self.key("campaigns", of: self.news)) == 4)
        #expect(listener.budget.refusals.contains { $0.app == self.news && $0.level == .app })
    }

    @Test func aClientThatHasItsShareLosesItsOwn() throws {
        let listener = Listener(self.loop, whole: 24)
        let other = try listener.open(1, self.client(2))
        let channels = try (0..<12).map { _ in try listener.open(1, self.client(1)) }
        #expect(other.isActive && channels.count(where: \.isActive) == 8)
        #expect(channels.suffix(8).allSatisfy { $0.isActive })
    }

    /// One customer of IPv6 has 65,536 networks.
    @Test func theNetworksOfASiteAreOneClient() throws {
        let listener = Listener(self.loop, whole: 24)
        let site: [UInt8] = [0x20, 0x01, 0x0d, 0xb8, 0, 1]
        for last in UInt8(0)..<3 {
            _ = try listener.open(1, BudgetCaller(app: self.news, .network(site + [0, last])))
        }
        #expect(listener.budget.usage(of: BudgetCaller(app: self.news, .network(site))).held == 3)
    }
}
