import PushBridges
import PushTypes
import Testing

@Suite struct PushCoalescerTests {
    private func message(_ conversation: String, _ text: String = "x") -> ChatMessage {
        ChatMessage(sender: "bob", conversation: conversation, isDirect: false, text: text, at: .start)
    }

    @Test func everyConversationHasItsOwnInterval() {
        var coalescer = PushCoalescer()
        #expect(coalescer.add(self.message("#a"), at: .start)?.count == 1)
        #expect(coalescer.add(self.message("#b"), at: .after(1))?.count == 1)
        #expect(coalescer.add(self.message("#A", "1"), at: .after(2)) == nil)
        #expect(coalescer.add(self.message("#b", "2"), at: .after(3)) == nil)
        #expect(coalescer.add(self.message("#b", "3"), at: .after(4)) == nil)
        #expect(coalescer.nextDue == .after(5))
        #expect(coalescer.takeDue(at: .after(5)).map(\.message.text) == ["1"])
        let last = coalescer.takeDue(at: .after(6))
        #expect(last.map(\.message.text) == ["3"] && last.map(\.count) == [2])
        // A push begins another interval.
        #expect(coalescer.add(self.message("#a"), at: .after(9)) == nil)
        #expect(coalescer.takeDue(at: .after(10)).count == 1)
        #expect(coalescer.takeDue(at: .after(15)).isEmpty)
        #expect(coalescer.nextDue == nil)
        #expect(coalescer.add(self.message("#a"), at: .after(15)) != nil)
    }

    @Test func thereAreNotMoreConversationsThanAllowed() {
        var coalescer = PushCoalescer(maximum: 2)
        var pushes: [ChatPush] = []
        for number in 0..<1000 {
            if let push = coalescer.add(self.message("#\(number)"), at: .start) { pushes.append(push) }
        }
        // Two of their own, and one for the first of all others.
        #expect(pushes.count == 3)
        let others = coalescer.takeDue(at: .after(5))
        #expect(others.map(\.count) == [997] && others.first?.message.conversation == "#999")
    }

    @Test func whatWasSeenIsForgotten() {
        var coalescer = PushCoalescer()
        for name in ["#a", "#b"] {
            _ = coalescer.add(self.message(name), at: .start)
            _ = coalescer.add(self.message(name), at: .start)
        }
        coalescer.forget("#A")
        coalescer.forget("#none")
        #expect(coalescer.takeAll().map(\.message.conversation) == ["#b"])
        #expect(coalescer.takeAll().isEmpty && coalescer.nextDue == nil)
    }
}
