import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 6 and the stream of 8.8, from the client's end.
@Suite struct FeedbackClientStateMachineTests {
    @Test func theListIsDeliveredWhereverItsBytesAreCut() throws {
        let bytes = try #require(Hexadecimal.decode(FeedbackTupleCodingTests.stream))
        let tuples = try FeedbackTupleCodingTests.tuples()
        for cut in 0...bytes.count {
            var client = FeedbackClientStateMachine(limit: 2)
            let first = client.receive(ByteBuffer(bytes: bytes.prefix(cut)))
            let second = client.receive(ByteBuffer(bytes: bytes.dropFirst(cut)))
            #expect(first + second == tuples.map { .deliver($0) })
            #expect(client.connectionClosed(isClean: true) == [.finish])
            #expect(client.connectionClosed(isClean: true).isEmpty, "a list ends once")
        }
    }

    @Test func anEmptyListIsComplete() {
        var client = FeedbackClientStateMachine(limit: 1)
        #expect(client.connectionClosed(isClean: true) == [.finish])
    }

    @Test(arguments: [0, 1], [true, false])
    func aListThatIsCutOffIsNotComplete(missing: Int, isClean: Bool) throws {
        let bytes = try #require(Hexadecimal.decode(FeedbackTupleCodingTests.stream)).dropLast(missing)
        var client = FeedbackClientStateMachine(limit: 2)
        #expect(client.receive(ByteBuffer(bytes: bytes)).count == 2 - missing)
        let isComplete = missing == 0 && isClean
        #expect(client.connectionClosed(isClean: isClean) == [isComplete ? .finish : .fail(.truncated)])
    }

    @Test func bytesThatAreNotAListEndIt() throws {
        let bytes = try #require(Hexadecimal.decode(FeedbackTupleCodingTests.stream + "000000000000"))
        var client = FeedbackClientStateMachine(limit: 9)
        let actions = client.receive(ByteBuffer(bytes: bytes))
        #expect(actions.count == 3)
        #expect(actions.last == .fail(.malformed(tokenLength: 0)))
        #expect(client.receive(ByteBuffer(bytes: bytes)).isEmpty)
        #expect(client.connectionClosed(isClean: true).isEmpty)
    }

    @Test func moreTuplesThanTheLimitEndTheList() throws {
        let bytes = try #require(Hexadecimal.decode(FeedbackTupleCodingTests.stream))
        var client = FeedbackClientStateMachine(limit: 1)
        let first = try #require(try FeedbackTupleCodingTests.tuples().first)
        #expect(client.receive(ByteBuffer(bytes: bytes)) == [.deliver(first), .fail(.tooManyTuples)])
    }

    @Test func aSilentServerEndsTheListOnce() {
        var client = FeedbackClientStateMachine(limit: 1)
        #expect(client.timedOut() == [.fail(.timedOut)])
        #expect(client.timedOut().isEmpty)
        #expect(client.connectionClosed(isClean: false).isEmpty)
    }
}
