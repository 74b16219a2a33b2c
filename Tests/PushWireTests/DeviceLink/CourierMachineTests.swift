import NIOCore
import PushTypes
import PushWire
import Testing

@Suite struct CourierServiceMachineTests {
    let now = Timestamp(seconds: 1_700_000_000)
    var machine = DeviceLinkServerStateMachine(now: Timestamp(seconds: 1_700_000_000))

    @Test mutating func nothingIsDoneBeforeTheDeviceIsAuthenticated() {
        let connect = DeviceLinkConnect(certificate: [1])
        let filter = DeviceLinkFilter(enabled: [])
        #expect(self.machine.received(bytes(connect.packet, filter.packet), now: self.now) == [.authenticate(connect)])
        let actions = self.machine.authenticated(baseToken: [9], isNew: true, now: self.now)
        let response = DeviceLinkConnectResponse(status: .ok, baseToken: [9], serverTime: self.now)
        #expect(actions == [.send(response.packet), .subscribe(filter)])
    }

    @Test mutating func aRefusedDeviceIsToldSoAndClosed() {
        _ = self.machine.received(bytes(DeviceLinkConnect().packet), now: self.now)
        let response = DeviceLinkConnectResponse(status: .refused, serverTime: self.now)
        #expect(self.machine.refused(now: self.now) == [.send(response.packet), .close(.refused)])
        #expect(self.machine.received(bytes(DeviceLinkPacket(command: .keepAlive)), now: self.now).isEmpty)
    }

    @Test mutating func aPacketBeforeConnectEndsTheConnection() {
        #expect(
            self.machine.received(bytes(DeviceLinkPacket(command: .keepAlive)), now: self.now) == [
                .close(.notConnected)
            ]
        )
    }

    @Test mutating func aConnectThatNeverComesIsNotAwaitedForEver() {
        #expect(self.machine.tick(now: self.now).isEmpty)
        #expect(self.machine.tick(now: self.now.advanced(by: .seconds(15))) == [.close(.connectTimeout)])
        #expect(self.machine.nextDeadline == nil)
    }

    @Test mutating func aKeepAliveIsAnsweredAndPutsOffTheIdleLimit() {
        self.connect()
        let later = self.now.advanced(by: .seconds(29 * 60))
        let answer = DeviceLinkPacket(command: .keepAliveAck)
        #expect(self.machine.received(bytes(DeviceLinkPacket(command: .keepAlive)), now: later) == [.send(answer)])
        #expect(self.machine.tick(now: self.now.advanced(by: .seconds(30 * 60))).isEmpty)
        #expect(self.machine.tick(now: later.advanced(by: .seconds(30 * 60))) == [.close(.idleTimeout)])
    }

    @Test mutating func unknownCommandsAreIgnored() {
        self.connect()
        #expect(self.machine.received(bytes(DeviceLinkPacket(command: 99, fields: [])), now: self.now).isEmpty)
        #expect(self.machine.isConnected)
    }

    @Test mutating func aSecondConnectEndsTheConnection() {
        self.connect()
        #expect(self.machine.received(bytes(DeviceLinkConnect().packet), now: self.now) == [.close(.connectedTwice)])
    }

    @Test mutating func anAckWithoutAnIdIsMalformed() {
        self.connect()
        let packet = DeviceLinkPacket(command: .messageAck)
        #expect(self.machine.received(bytes(packet), now: self.now) == [.close(.malformedPacket)])
    }

    @Test mutating func packetsWaitingForTheAnswerToConnectAreBounded() {
        let keepAlive = DeviceLinkPacket(command: .keepAlive)
        _ = self.machine.received(bytes(DeviceLinkConnect().packet), now: self.now)
        for _ in 0..<32 { #expect(self.machine.received(bytes(keepAlive), now: self.now).isEmpty) }
        #expect(self.machine.received(bytes(keepAlive), now: self.now) == [.close(.tooManyWaiting)])
    }

    private mutating func connect() {
        _ = self.machine.received(bytes(DeviceLinkConnect().packet), now: self.now)
        _ = self.machine.authenticated(baseToken: [1], isNew: false, now: self.now)
    }
}

@Suite struct CourierDeviceMachineTests {
    let now = Timestamp(seconds: 1_700_000_000)
    var machine = DeviceLinkClientStateMachine()

    @Test mutating func aKeepAliveWithoutAnswerEndsTheConnection() {
        self.connect()
        let due = self.now.advanced(by: .seconds(30))
        #expect(self.machine.tick(now: due) == [.send(DeviceLinkPacket(command: .keepAlive))])
        #expect(self.machine.tick(now: due.advanced(by: .seconds(15))) == [.close(.keepAliveTimeout)])
    }

    @Test mutating func anyPacketShowsThatTheServiceIsAlive() {
        self.connect()
        let due = self.now.advanced(by: .seconds(30))
        _ = self.machine.tick(now: due)
        #expect(self.machine.received(bytes(DeviceLinkPacket(command: .keepAliveAck)), now: due).isEmpty)
        #expect(self.machine.nextDeadline == due.advanced(by: .seconds(30)))
    }

    @Test mutating func aRefusalEndsTheConnection() {
        _ = self.machine.start(DeviceLinkConnect(), now: self.now)
        let refusal = DeviceLinkConnectResponse(status: .refused, serverTime: self.now).packet
        #expect(self.machine.received(bytes(refusal), now: self.now) == [.close(.refused)])
    }

    @Test mutating func aSilentServiceIsNotAwaitedForEver() {
        _ = self.machine.start(DeviceLinkConnect(), now: self.now)
        #expect(self.machine.tick(now: self.now.advanced(by: .seconds(15))) == [.close(.connectTimeout)])
    }

    @Test mutating func garbageEndsTheConnection() {
        self.connect()
        let garbage = ByteBuffer(bytes: [10, 0, 0, 0, 2, 1, 0])
        #expect(self.machine.received(garbage, now: self.now) == [.close(.malformedPacket)])
        #expect(self.machine.received(garbage, now: self.now).isEmpty)
    }

    private mutating func connect() {
        _ = self.machine.start(DeviceLinkConnect(), now: self.now)
        let response = DeviceLinkConnectResponse(status: .ok, baseToken: [1], serverTime: self.now).packet
        #expect(self.machine.received(bytes(response), now: self.now) == [.connected(baseToken: [1])])
    }
}

private func bytes(_ packets: DeviceLinkPacket...) -> ByteBuffer {
    var buffer = ByteBuffer()
    for packet in packets { packet.write(to: &buffer) }
    return buffer
}
