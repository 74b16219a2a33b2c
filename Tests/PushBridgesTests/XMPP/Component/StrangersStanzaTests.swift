import NIOCore
import Testing

@testable import PushBridges

/// Stanzas of strangers at a component.
@Suite struct StrangersStanzaTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test(arguments: PoisonedStanza.allCases, [1000, Int.max])
    func noStanzaOfAStrangerEndsTheLink(stanza: PoisonedStanza, piece: Int) {
        var machine = ComponentStateMachine(domain: "push.example.org", secret: "test")
        _ = machine.connected(now: self.start)
        _ = machine.received(Array((ComponentStateMachineTests.header + "<handshake/>").utf8), now: self.start)
        let poisoned = stanza.text("<message from='eve@example.net/x' to='push.example.org'")
        let ping = """
            <iq type='get' id='1' from='example.com' to='push.example.org'><ping xmlns='urn:xmpp:ping'/></iq>
            """
        var rest = Array((poisoned + ping).utf8)[...]
        var actions: [ComponentAction] = []
        while !rest.isEmpty {
            actions += machine.received(rest.prefix(piece), now: self.start)
            rest = rest.dropFirst(piece)
        }
        #expect(actions == [.write("<iq from='push.example.org' id='1' to='example.com' type='result'/>")])
    }
}
