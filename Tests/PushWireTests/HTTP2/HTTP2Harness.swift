import NIOCore
import PushTesting

@testable import PushWire

/// A state machine of one end, and a peer that the test plays.
protocol HTTP2Harness: AnyObject {
    func receive(_ bytes: [UInt8])
}

extension HTTP2Harness {
    /// Receives the bytes that `write` appends.
    func receive(_ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        write(&buffer)
        self.receive(Array(buffer.readableBytesView))
    }

    /// Receives a frame of random type, flags, stream and content.
    func receiveRandomFrame(using generator: inout SeededGenerator) {
        let count = Int.random(in: 0...12, using: &generator)
        self.receive { buffer in
            buffer.writeBytes([0, 0, UInt8(count), UInt8.random(in: 0...10, using: &generator)])
            buffer.writeInteger(UInt8.random(in: 0...255, using: &generator))
            buffer.writeInteger(UInt32.random(in: 0...12, using: &generator))
            for _ in 0..<count { buffer.writeInteger(UInt8.random(in: 0...255, using: &generator)) }
        }
    }
}
