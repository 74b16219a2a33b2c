import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite struct SlotAllocatorTests {
    private static func service(_ app: Int64) -> DispatchTarget { DispatchTarget(app: app, environment: nil) }

    private static var settings: SlotAllocator.Settings {
        SlotAllocator.Settings(slots: 4, perService: 4, reserve: 1, deadline: .seconds(5))
    }

    private let now = Timestamp(seconds: 1000)
    private var late: Timestamp { self.now.advanced(by: .seconds(5)) }

    /// Starts pages of these services and gives their tickets.
    private func start(_ machine: inout SlotAllocator, _ apps: Int64...) -> [SlotAllocator.Ticket] {
        apps.map { app in
            let ticket = machine.acquire(Self.service(app))
            machine.pageStarted(ticket, now: self.now)
            return ticket
        }
    }

    /// Returns `true` if a service may start now.
    private func mayStart(_ machine: SlotAllocator, _ app: Int64) -> Bool {
        [true, false].contains { isShared in
            let offer = machine.offer(isShared: isShared)
            return offer.limit > 0 && !offer.excluded.contains(Self.service(app))
        }
    }

    @Test func aServiceAloneHasAllSlots() {
        var machine = SlotAllocator(Self.settings)
        #expect(machine.offer(isShared: true) == .init(limit: 4, excluded: []))
        let tickets = self.start(&machine, 1, 1, 1, 1)
        #expect(!self.mayStart(machine, 1))
        let soon = self.now.advanced(by: .seconds(1))
        for ticket in tickets {
            let goesOn = machine.pageEnded(ticket, isAnswered: true, now: soon)
            #expect(goesOn)
        }
    }

    /// The regular places are full of pages without answers.
    @Test func servicesAlternateInTheReserve() {
        var machine = SlotAllocator(Self.settings)
        _ = self.start(&machine, 1, 1, 1, 1)
        func take(_ app: Int64) {
            let ticket = self.start(&machine, app)[0]
            let goesOn = machine.pageEnded(ticket, isAnswered: true, now: self.now)
            #expect(!goesOn, "others may wait")
            machine.release(ticket)
        }
        take(2)
        #expect(machine.offer(isShared: true).excluded == [Self.service(1), Self.service(2)])
        take(3)
        #expect(machine.offer(isShared: true).excluded == [Self.service(1), Self.service(2), Self.service(3)])
        #expect(machine.offer(isShared: false).excluded == [Self.service(1)], "no other waits")
        take(2)
        #expect(machine.offer(isShared: true).excluded == [Self.service(1), Self.service(2)], "a new round")
    }

    @Test func theReserveIsFreeForAServiceWithoutASlot() {
        var machine = SlotAllocator(Self.settings)
        let first = self.start(&machine, 1, 1, 1, 1)
        #expect(self.mayStart(machine, 2))
        _ = self.start(&machine, 2)
        #expect(!self.mayStart(machine, 3), "until the next page boundary")
        let goesOn = machine.pageEnded(first[0], isAnswered: true, now: self.now)
        #expect(!goesOn)
        machine.release(first[0])
        #expect(self.mayStart(machine, 3))
        #expect(!self.mayStart(machine, 1))
        let another = machine.pageEnded(first[1], isAnswered: true, now: self.now)
        #expect(another, "one place is free again")
    }

    @Test func slotsAreSharedEqually() {
        var machine = SlotAllocator(Self.settings)
        let first = self.start(&machine, 1, 1, 1)
        _ = self.start(&machine, 2)
        machine.release(first[0])
        #expect(machine.offer(isShared: true).excluded == [Self.service(1)])
        #expect(machine.offer(isShared: false).excluded == [], "what nobody else wants")
    }

    @Test func aLatePageLeavesItsSlot() {
        var machine = SlotAllocator(Self.settings)
        _ = self.start(&machine, 1, 1, 1, 1)
        #expect(machine.nextDeadline == self.late)
        let early = machine.tick(now: self.late.advanced(by: .milliseconds(-1)))
        let isLate = machine.tick(now: self.late)
        #expect([early, isLate] == [false, true])
        #expect(machine.nextDeadline == nil)
        #expect(!self.mayStart(machine, 1))
        for _ in 0..<4 {
            #expect(self.mayStart(machine, 2))
            _ = self.start(&machine, 2)
        }
    }

    @Test func aSilentServiceIsTriedBesideTheOthersOnePageAtATime() {
        var machine = SlotAllocator(Self.settings)
        let first = self.start(&machine, 1, 1)
        _ = machine.tick(now: self.late)
        for ticket in first {
            let goesOn = machine.pageEnded(ticket, isAnswered: false, now: self.late)
            #expect(!goesOn)
            machine.release(ticket)
        }
        let probe = self.start(&machine, 1)
        #expect(!self.mayStart(machine, 1))
        #expect(machine.offer(isShared: true).limit == 4, "no regular place is taken")
        // Its service answers again: with the next page it is as any other.
        let goesOn = machine.pageEnded(probe[0], isAnswered: true, now: self.now)
        #expect(!goesOn)
        machine.release(probe[0])
        _ = self.start(&machine, 1)
        #expect(machine.offer(isShared: true).limit == 3)
    }

    @Test func aSlowServiceKeepsItsSlots() {
        var machine = SlotAllocator(Self.settings)
        let first = self.start(&machine, 1)
        _ = machine.tick(now: self.late)
        _ = machine.pageEnded(first[0], isAnswered: true, now: self.late)
        machine.release(first[0])
        for _ in 0..<4 {
            #expect(self.mayStart(machine, 1))
            _ = self.start(&machine, 1)
        }
        #expect(!self.mayStart(machine, 1))
        #expect(machine.offer(isShared: true).limit == 4)
    }

    /// Whatever others do, somebody who is in time finds a place at the next deadline.
    @Test func manySilentServicesTakeNothingFromAnother() {
        var machine = SlotAllocator(Self.settings)
        var now = self.now
        for round in 0..<50 {
            for app in Int64(1)...40 where self.mayStart(machine, app) {
                let ticket = machine.acquire(Self.service(app))
                machine.pageStarted(ticket, now: now)
            }
            now = now.advanced(by: .seconds(5))
            _ = machine.tick(now: now)
            #expect(self.mayStart(machine, 99), "round \(round)")
        }
    }

    @Test func unknownTicketsAreIgnored() {
        var machine = SlotAllocator(Self.settings)
        let ticket = machine.acquire(Self.service(1))
        let withoutPage = machine.pageEnded(ticket, isAnswered: true, now: self.now)
        machine.release(ticket)
        machine.pageStarted(ticket, now: self.now)
        let gone = machine.pageEnded(ticket, isAnswered: true, now: self.now)
        #expect([withoutPage, gone] == [false, false])
        #expect(!machine.isBusy)
    }
}
