import Fuzzing
import NIOCore
import NIOHPACK

@testable import PushWire

/// Fuzzes one end of HTTP/2 and its header decoder. The first byte of an input selects one.
@main
enum ProviderHTTP2Fuzz {
    static func main() {
        HTTP2Run.start(
            connection: { ConnectionRun.run($0, startsOpen: $1 & 1 == 1, streams: $1 & 128 == 0 ? 1000 : 2) },
            headerBlocks: DecoderComparison.run
        )
    }
}

/// Runs a connection. The input decides on the size of each read, the responses and the time.
enum ConnectionRun {
    static func run(_ input: [UInt8], startsOpen: Bool, streams: Int) {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var limits = HTTP2ServerLimits()
        limits.streams = streams
        limits.idle = .minutes(10)
        if streams == 2 { limits.excess = .endConnection }
        var machine = HTTP2ServerStateMachine(limits: limits, now: now)
        if startsOpen {
            var start = ByteBuffer(string: HTTP2Constants.preface)
            start.writeBytes([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0])
            machine.receive(start, now: now)
        }
        var awaited: [UInt32] = []
        var highest: UInt32 = 0
        var input = input[...]
        while let command = input.popFirst() {
            switch command >> 6 {
            case 0:
                for stream in awaited.prefix(Int(command & 7)) {
                    machine.respond(stream, Self.response(stream, hasBody: command & 8 != 0))
                }
                awaited.removeFirst(min(awaited.count, Int(command & 7)))
            case 1:
                now = now + .milliseconds(Int64(command & 63) * 500)
                machine.tick(now: now)
                precondition(machine.nextDeadline > now, "a deadline is due twice")
            case 2 where command >= 0xb7: Self.steer(&machine, command, now: now)
            default:
                let length = Int(command & 63)
                machine.receive(ByteBuffer(bytes: input.prefix(length)), now: now)
                input = input.dropFirst(length)
            }
            Self.note(&machine, &awaited, &highest)
            precondition(machine.openStreams <= HTTP2ServerLimits.maximumStreams, "too many streams")
            precondition(machine.reader.restLength < 20_000, "too much is kept")
            precondition(machine.incomplete.heldBytes >= 0 && machine.unsent.byteCount >= 0, "more was freed than held")
            if machine.openStreams == 0 {
                precondition(machine.incomplete.heldBytes == 0 && machine.unsent.byteCount == 0, "held for nobody")
            }
            precondition(machine.unsent.queueLength <= 2 * machine.unsent.count + 66, "streams that ended are kept")
            _ = machine.takeOutput()
        }
    }

    private static func steer(_ machine: inout HTTP2ServerStateMachine, _ command: UInt8, now: NIODeadline) {
        switch command {
        case 0xbf: machine.drain(now: now)
        case 0xbe: machine.transportClosed()
        case 0xbd: machine.goAway(.noError, debugData: "enough", lastStream: 3, now: now)
        case 0xbc: machine.announce(streamLimit: 1, now: now)
        case 0xbb: machine.announce(streamLimit: 5000, now: now)
        case 0xba: machine.reset(1, .internalError)
        case 0xb9: machine.setWritable(false, now: now)
        case 0xb7: machine.inputClosed(now: now)
        default: machine.setWritable(true, now: now)
        }
    }

    private static func note(
        _ machine: inout HTTP2ServerStateMachine,
        _ awaited: inout [UInt32],
        _ highest: inout UInt32
    ) {
        var events: [HTTP2ServerEvent] = []
        machine.takeEvents(&events)
        for event in events {
            switch event {
            case .request(let stream, let request):
                precondition(!awaited.contains(stream), "stream \(stream) came twice")
                precondition(request.body.readableBytes <= ProviderRequest.maximumBody, "too much of a body is kept")
                precondition(request.body.readableBytes <= request.bodyLength, "a body longer than it came")
                awaited.append(stream)
            case .cancelled(let stream): awaited.removeAll { $0 == stream }
            case .finished: awaited = []
            }
        }
    }

    private static func response(_ stream: UInt32, hasBody: Bool) -> ProviderResponse {
        ProviderResponse(
            status: hasBody ? 400 : 200,
            apnsID: "eabeae54-14a8-11e5-b60b-1697f925ec7b",
            body: hasBody ? String(repeating: "b", count: Int(stream % 7) * 5000) : nil
        )
    }
}

/// Compares the header decoder with NIOHPACK: both decode a block to the same fields.
enum DecoderComparison {
    @Sendable static func run(_ input: [UInt8]) {
        var decoder = HeaderBlockDecoder<RequestHead>()
        HTTP2Run.compareHeaders(input) {
            try? decoder.decode($0.span)
        } compare: { head, their, block in
            if !head.isMalformed, !head.isTooLong { Self.compare(head.request, their, block) }
        }
    }

    private static func compare(_ request: ProviderRequest, _ headers: HPACKHeaders, _ block: [UInt8]) {
        let fields = request.fields
        let pairs: [(String, String?)] = [
            ("authorization", fields.authorization), ("apns-push-type", fields.pushType),
            ("apns-topic", fields.topic), ("apns-id", fields.id), ("apns-expiration", fields.expiration),
            ("apns-priority", fields.priority), ("apns-collapse-id", fields.collapseID),
            ("apns-channel-id", fields.channelID), ("apns-request-id", fields.requestID),
            (":method", request.method.isEmpty ? nil : request.method),
            (":path", request.path.isEmpty ? nil : request.path),
        ]
        for (name, value) in pairs {
            let their = headers.last { $0.name == name }?.value
            precondition(value == (name.hasPrefix(":") && their == "" ? nil : their), "\(name) of \(block)")
        }
    }
}
