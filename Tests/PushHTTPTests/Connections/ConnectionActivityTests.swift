import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import PushSupport
import PushTesting
import Testing

@testable import PushHTTP

@Suite struct ConnectionActivityTests {
    private static func second(_ number: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(number) }

    /// A stream of events is quiet because nothing happens, and not because its client does not read.
    @Test func onlyAResponseThatWaitsForItsClientIsStalled() {
        let activity = ConnectionActivity(now: Self.second(0))
        #expect(activity.idleSince == Self.second(0))
        #expect(activity.stalledSince(now: Self.second(100), isWritable: false) == nil, "it has no request")
        activity.requestBegan(now: Self.second(1))
        activity.requestCame()
        activity.bytesMoved(now: Self.second(2))
        #expect(activity.idleSince == nil)
        #expect(activity.stalledSince(now: Self.second(100), isWritable: true) == nil)
        #expect(activity.stalledSince(now: Self.second(11), isWritable: false) == nil)
        #expect(activity.stalledSince(now: Self.second(12), isWritable: false) == Self.second(2))
        activity.responseWritten(now: Self.second(20))
        #expect(activity.stalledSince(now: Self.second(29), isWritable: true) == nil)
        #expect(activity.stalledSince(now: Self.second(30), isWritable: true) == Self.second(20))
        activity.requestsEnded(1, written: 1, isTaken: true, now: Self.second(40))
        #expect(activity.idleSince == Self.second(40))
    }

    /// On HTTP/2 the next request begins before the last one ends.
    @Test func overlappingRequestsThatDoNotComeWholeAreUnfinished() {
        let activity = ConnectionActivity(now: Self.second(0))
        activity.requestBegan(now: Self.second(1))
        #expect(activity.unfinishedSince(now: Self.second(2)) == nil)
        for second in Int64(2)..<10 {
            activity.requestBegan(now: Self.second(second))
            activity.requestsEnded(1, written: 0, unfinished: 1, isTaken: false, now: Self.second(second))
        }
        #expect(activity.unfinishedSince(now: Self.second(10)) == Self.second(1))
        // Another one has come whole, and has its response.
        activity.requestBegan(now: Self.second(10))
        activity.requestCame()
        #expect(activity.unfinishedSince(now: Self.second(100)) == nil)
        activity.responseWritten(now: Self.second(100))
        activity.requestsEnded(1, written: 1, isTaken: true, now: Self.second(101))
        #expect(
            activity.unfinishedSince(now: Self.second(102)) == Self.second(1),
            "no response moves what the client owes"
        )
    }

    /// The same for a client that takes no response.
    @Test func overlappingResponsesThatAreNotTakenAreStalled() {
        let activity = ConnectionActivity(now: Self.second(0))
        activity.requestBegan(now: Self.second(0))
        activity.requestCame()
        activity.responseWritten(now: Self.second(1))
        for second in Int64(2)..<11 {
            activity.requestBegan(now: Self.second(second))
            activity.requestCame()
            activity.bodyWritten(now: Self.second(second))
            activity.responseWritten(now: Self.second(second))
            activity.bodyEnded(isTaken: false, now: Self.second(second))
            activity.requestsEnded(1, written: 1, isTaken: false, now: Self.second(second))
        }
        #expect(activity.stalledSince(now: Self.second(10), isWritable: true) == nil)
        #expect(activity.stalledSince(now: Self.second(11), isWritable: true) == Self.second(1))
        // One that does not come whole changes nothing, and one that is taken does.
        activity.requestBegan(now: Self.second(11))
        #expect(activity.stalledSince(now: Self.second(11), isWritable: true) == Self.second(1))
        activity.requestsEnded(1, written: 1, isTaken: true, now: Self.second(12))
        #expect(activity.stalledSince(now: Self.second(30), isWritable: true) == nil)
    }

    /// The rest of a request that was answered early is discarded.
    @Test func aRequestIsUnfinishedUntilItIsWholeOrAnswered() throws {
        let (channel, activity) = try self.channel()
        try channel.writeInbound(HTTPRequestPart.get)
        #expect(activity.isUnfinished)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(!activity.isUnfinished && activity.idleSince == nil)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        try channel.writeInbound(HTTPRequestPart.get)
        #expect(activity.isUnfinished)
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        #expect(!activity.isUnfinished && activity.idleSince == nil)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    /// Returns a held connection with its activity.
    private func channel() throws -> (EmbeddedChannel, ConnectionActivity) {
        let held = ConnectionLimiter(BudgetRegistry(), logger: silentLogger)
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try held.admit(channel)
        try channel.pipeline.syncOperations.addHandler(ConnectionActivityHandler(held))
        return (channel, try #require(held.activity(of: channel)))
    }

    @Test func aResponseEndsWhenTheSocketHasIt() throws {
        let (channel, activity) = try self.channel()
        try channel.writeInbound(HTTPRequestPart.get)
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        #expect(activity.idleSince == nil)
        channel.flush()
        #expect(activity.idleSince != nil)
        _ = try channel.finish()
    }

    @Test func pipelinedRequestsCount() throws {
        let (channel, activity) = try self.channel()
        for _ in 0..<2 {
            try channel.writeInbound(HTTPRequestPart.get)
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        #expect(activity.idleSince == nil)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        #expect(activity.idleSince != nil)
        // That of a request that could not be read has no request.
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        try channel.writeInbound(HTTPRequestPart.get)
        #expect(activity.idleSince == nil)
        _ = try channel.finish()
    }

    /// A stream of HTTP/2 that is reset leaves its connection.
    @Test func aRemovedHandlerEndsItsRequests() throws {
        let (channel, activity) = try self.channel()
        try channel.writeInbound(HTTPRequestPart.get)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeInbound(HTTPRequestPart.get)
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        _ = try channel.finish(acceptAlreadyClosed: true)
        #expect(activity.idleSince != nil)
    }
}
