import Fuzzing
import NIOCore
import PushTypes
import PushWire

/// Fuzzes the decoders of the binary protocol and the feedback service. The first byte of an input selects one.
@main
enum BinaryFrameFuzz {
    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 1: Self.errorPackets(rest)
            case 2: Self.feedback(rest)
            case nil: break
            default: Self.frames(rest)
            }
        }
    }

    private static func frames(_ bytes: [UInt8]) {
        Pieces.expectSame(bytes) {
            Decoded($0) { buffer throws(BinaryErrorResponse) in try BinaryFrame.read(from: &buffer) }
        }
        let decoded = Decoded([ByteBuffer(bytes: bytes)]) { buffer throws(BinaryErrorResponse) in
            try BinaryFrame.read(from: &buffer)
        }
        precondition(decoded.rest.readableBytes <= BinaryFrame.maximumFrameLength + 5, "too much is kept")
        for frame in decoded.values {
            precondition(frame.validationError == nil, "taken in spite of \(String(describing: frame.validationError))")
            var encoded = frame.encoded
            precondition((try? BinaryFrame.read(from: &encoded)) == frame, "not the same again: \(frame)")
            precondition(encoded.readableBytes == 0, "bytes left over after \(frame)")
        }
    }

    private static func errorPackets(_ bytes: [UInt8]) {
        Pieces.expectSame(bytes) {
            Decoded($0) { buffer throws(BinaryErrorResponse.Malformed) in try BinaryErrorResponse.read(from: &buffer) }
        }
    }

    private static func feedback(_ bytes: [UInt8]) {
        Pieces.expectSame(bytes) {
            Decoded($0) { buffer throws(FeedbackTuple.Malformed) in try FeedbackTuple.read(from: &buffer) }
        }
    }
}
