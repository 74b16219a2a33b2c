import NIOCore
import PushTypes
import PushWire

/// A device that connects, sends its filter and acknowledges every message. It reads only the fields that it needs.
final class DeviceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The length of an acknowledgement: command, length, message id and status.
    private static let ackLength = 5 + 7 + 4

    private let index: Int
    private let connect: ByteBuffer
    /// The packets that are sent when the gateway has accepted the device.
    private let announcement: ByteBuffer
    private let counters: ConnectionCounters
    private var partial = ByteBuffer()
    private var output = ByteBuffer()
    private var isReady = false
    private var messages = 0
    private var stamps: [Stamp] = []

    /// - Parameter announcement: the filter, and possibly a request for a device token.
    init(index: Int, connect: ByteBuffer, announcement: ByteBuffer, counters: ConnectionCounters) {
        self.index = index
        self.connect = connect
        self.announcement = announcement
        self.counters = counters
    }

    func channelActive(context: ChannelHandlerContext) {
        self.counters.update { $0.open += 1 }
        context.writeAndFlush(Self.wrapOutboundOut(self.connect), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let isReady = self.isReady
        self.counters.update { counts in
            counts.open -= 1
            if isReady { counts.ready -= 1 }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.counters.failed("\(error)")
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        if self.partial.readableBytes > 0 {
            self.partial.writeBuffer(&bytes)
            swap(&bytes, &self.partial)
        }
        while let command = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self),
            let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self).map(Int.init),
            bytes.readableBytes >= DeviceLinkPacket.headerLength + length
        {
            let payload = bytes.readerIndex + DeviceLinkPacket.headerLength
            self.received(DeviceLinkCommand(rawValue: command), bytes, payload..<payload + length, context: context)
            bytes.moveReaderIndex(to: payload + length)
        }
        self.partial = bytes.readableBytes > 0 ? bytes : ByteBuffer()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if self.output.readableBytes > 0 {
            context.writeAndFlush(Self.wrapOutboundOut(self.output), promise: nil)
            self.output = ByteBuffer()
        }
        if self.messages > 0 {
            self.counters.received(self.messages, stamps: self.stamps, device: self.index)
            self.messages = 0
            self.stamps.removeAll(keepingCapacity: true)
        }
    }

    private func received(
        _ command: DeviceLinkCommand?,
        _ bytes: ByteBuffer,
        _ payload: Range<Int>,
        context: ChannelHandlerContext
    ) {
        switch command {
        case .connectResponse:
            guard let status = Self.field(1, of: bytes, in: payload),
                bytes.getInteger(at: status.lowerBound) == UInt8(0)
            else { return self.counters.failed("device \(self.index) was refused") }
            self.output.writeImmutableBuffer(self.announcement)
        case .message:
            self.message(bytes, payload)
            self.becomeReady()
        case .scopedTokenResponse:
            let token = Self.field(2, of: bytes, in: payload)
                .flatMap { bytes.getBytes(at: $0.lowerBound, length: $0.count) }
                .flatMap { DeviceToken(bytes: $0) }
            let index = self.index
            self.counters.update { $0.tokens[index] = token }
            self.becomeReady()
        case .noStorage:
            self.becomeReady()
        default:
            break
        }
    }

    private func message(_ bytes: ByteBuffer, _ payload: Range<Int>) {
        guard let idField = Self.field(4, of: bytes, in: payload), let content = Self.field(3, of: bytes, in: payload),
            let id = bytes.getInteger(at: idField.lowerBound, as: UInt32.self)
        else { return self.counters.failed("a message without id or payload") }
        self.messages += 1
        if let stamp = Stamp(bytes, at: content.lowerBound) { self.stamps.append(stamp) }
        self.output.reserveCapacity(minimumWritableBytes: Self.ackLength)
        self.output.writeInteger(DeviceLinkCommand.messageAck.rawValue)
        self.output.writeInteger(UInt32(Self.ackLength - DeviceLinkPacket.headerLength))
        self.output.writeMultipleIntegers(UInt8(4), UInt16(4), id)
        self.output.writeMultipleIntegers(UInt8(8), UInt16(1), UInt8(0))
    }

    /// Counts the device as ready: the gateway has processed the filter and sent the stored messages.
    private func becomeReady() {
        guard !self.isReady else { return }
        self.isReady = true
        self.counters.update { $0.ready += 1 }
    }

    private static func field(_ id: UInt8, of bytes: ByteBuffer, in payload: Range<Int>) -> Range<Int>? {
        var index = payload.lowerBound
        while let found = bytes.getInteger(at: index, as: UInt8.self),
            let length = bytes.getInteger(at: index + 1, as: UInt16.self).map(Int.init),
            index + 3 + length <= payload.upperBound
        {
            if found == id { return index + 3..<index + 3 + length }
            index += 3 + length
        }
        return nil
    }
}
