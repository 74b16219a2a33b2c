import NIOCore
import Testing

@testable import PushWire

/// Windows in both directions (RFC 9113 sections 5.2 and 6.9).
@Suite struct FlowControlWindowTests {
    @Test func anIncrementOfZeroIsAnError() {
        var window = HTTP2SendWindow()
        #expect(window.increase(by: 0) == .protocolError)
        #expect(throws: HTTP2ConnectionError.self) { try window.increaseConnection(by: 0) }
    }

    @Test func aWindowThatOverflowsIsAnError() {
        var window = HTTP2SendWindow()
        #expect(window.increase(by: 0x7fff_ffff - 65_535) == nil)
        #expect(window.increase(by: 1) == .flowControlError)
    }

    @Test func aSmallerInitialWindowCanMakeAWindowNegative() {
        var window = HTTP2SendWindow()
        window.consume(65_000)
        #expect(window.change(by: -65_535) == true)
        #expect(window.size == -65_000)
        #expect(window.increase(by: 65_001) == nil)
        #expect(window.size == 1)
    }

    @Test func aReceiveWindowIsReplenishedOnceHalfOfItIsUsed() {
        var window = HTTP2ReceiveWindow(capacity: 100)
        #expect(window.receive(50) == true)
        #expect(window.replenish() == nil)
        #expect(window.receive(1) == true)
        #expect(window.replenish() == 51)
        #expect(window.receive(100) == true)
        #expect(window.receive(1) == false)
    }

    @Test func aBodyIsSentAsFarAsTheWindowsAllow() {
        var (connection, stream) = (HTTP2SendWindow(), HTTP2SendWindow())
        #expect(stream.change(by: 25 - stream.size) == true)
        var body = ByteBuffer(repeating: 0x61, count: 30)
        var output = ByteBuffer()
        let frames = output.writeData(
            &body,
            streamID: 1,
            connectionWindow: &connection,
            streamWindow: &stream,
            maximumFrameLength: 10
        )
        #expect(frames == 3)
        #expect(body.readableBytes == 5)
        #expect(stream.size == 0)
        #expect(connection.size == 65_535 - 25)
    }
}
