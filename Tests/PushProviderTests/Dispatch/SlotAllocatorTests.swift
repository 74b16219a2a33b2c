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
    private func start(_ allocator: inout SlotAllocator, _ apps: Int64...) -> [SlotAllocator.Ticket] {
        apps.map { app in
            let ticket = allocator.acquire(Self.service(app))
            allocator.pageStarted(ticket, now: self.now)
            return ticket
        }
    }

    /// Returns `true` if a service may start now.
    private func mayStart(_ allocator: SlotAllocator, _ app: Int64) -> Bool {
        [true, false].contains { isShared in
            let offer = allocator.offer(isShared: isShared)
            return offer.limit > 0 && !offer.excluded.contains(Self.service(app))
        }
    }

    @Test func aServiceAloneHasAllSlots() {
        var allocator = SlotAllocator(Self.settings)
        #expect(allocator.offer(isShared: true) == .init(limit: 4, excluded: []))
        let tickets = self.start(&allocator, 1, 1, 1, 1)
        #expect(!self.mayStart(allocator, 1))
        let soon = self.now.advanced(by: .seconds(1))
        for ticket in tickets {
            let goesOn = allocator.pageEnded(ticket, isAnswered: true, now: soon)
            #expect(goesOn)
        }
    }

    /// The regular slots are full of pages without responses.
    @Test func servicesAlternateInTheReserve() {
        var allocator = SlotAllocator(Self.settings)
        _ = self.start(&allocator, 1, 1, 1, 1)
        func take(_ app: Int64) {
            let ticket = self.start(&allocator, app)[0]
            let goesOn = allocator.pageEnded(ticket, isAnswered: true, now: self.now)
            #expect(!goesOn, "others may wait")
            allocator.release(ticket)
        }
        take(2)
        #expect(allocator.offer(isShared: true).excluded == [Self.service(1), Self.service(2)])
        take(3)
        #expect(allocator.offer(isShared: true).excluded == [Self.service(1), Self.service(2), Self.service(3)])
        #expect(allocator.offer(isShared: false).excluded == [Self.service(1)], "no other waits")
        take(2)
        #expect(allocator.offer(isShared: true).excluded == [Self.service(1), Self.service(2)], "a new round")
    }

    @Test func theReserveIsFreeForAServiceWithoutASlot() {
        var allocator = SlotAllocator(Self.settings)
        let first = self.start(&allocator, 1, 1, 1, 1)
        #expect(self.mayStart(allocator, 2))
        _ = self.start(&allocator, 2)
        #expect(!self.mayStart(allocator, 3), "until the next page boundary")
        let goesOn = allocator.pageEnded(first[0], isAnswered: true, now: self.now)
        #expect(!goesOn)
        allocator.release(first[0])
        #expect(self.mayStart(allocator, 3))
        #expect(!self.mayStart(allocator, 1))
        let another = allocator.pageEnded(first[1], isAnswered: true, now: self.now)
        #expect(another, "one place is free again")
    }

    @Test func slotsAreSharedEqually() {
        var allocator = SlotAllocator(Self.settings)
        let first = self.start(&allocator, 1, 1, 1)
        _ = self.start(&allocator, 2)
        allocator.release(first[0])
        #expect(allocator.offer(isShared: true).excluded == [Self.service(1)])
        #expect(allocator.offer(isShared: false).excluded == [], "what nobody else wants")
    }

    @Test func aLatePageLeavesItsSlot() {
        var allocator = SlotAllocator(Self.settings)
        _ = self.start(&allocator, 1, 1, 1, 1)
        #expect(allocator.nextDeadline == self.late)
        let early = allocator.tick(now: self.late.advanced(by: .milliseconds(-1)))
        let isLate = allocator.tick(now: self.late)
        #expect([early, isLate] == [false, true])
        #expect(allocator.nextDeadline == nil)
        #expect(!self.mayStart(allocator, 1))
        for _ in 0..<4 {
            #expect(self.mayStart(allocator, 2))
            _ = self.start(&allocator, 2)
        }
    }

    @Test func aSilentServiceIsTriedBesideTheOthersOnePageAtATime() {
        var allocator = SlotAllocator(Self.settings)
        let first = self.start(&allocator, 1, 1)
        _ = allocator.tick(now: self.late)
        for ticket in first {
            let goesOn = allocator.pageEnded(ticket, isAnswered: false, now: self.late)
            #expect(!goesOn)
            allocator.release(ticket)
        }
        let probe = self.start(&allocator, 1)
        #expect(!self.mayStart(allocator, 1))
        #expect(allocator.offer(isShared: true).limit == 4, "no regular place is taken")
        // Its service responds again: the next page is a regular one.
        let goesOn = allocator.pageEnded(probe[0], isAnswered: true, now: self.now)
        #expect(!goesOn)
        allocator.release(probe[0])
        _ = self.start(&allocator, 1)
        #expect(allocator.offer(isShared: true).limit == 3)
    }

    @Test func aSlowServiceKeepsItsSlots() {
        var allocator = SlotAllocator(Self.settings)
        let first = self.start(&allocator, 1)
        _ = allocator.tick(now: self.late)
        _ = allocator.pageEnded(first[0], isAnswered: true, now: self.late)
        allocator.release(first[0])
        for _ in 0..<4 {
            #expect(self.mayStart(allocator, 1))
            _ = self.start(&allocator, 1)
        }
        #expect(!self.mayStart(allocator, 1))
        #expect(allocator.offer(isShared: true).limit == 4)
    }

    /// A service that responds in time always finds a slot at the next deadline.
    @Test func manySilentServicesTakeNothingFromAnother() {
        var allocator = SlotAllocator(Self.settings)
        var now = self.now
        for round in 0..<50 {
            for app in Int64(1)...40 where self.mayStart(allocator, app) {
                let ticket = allocator.acquire(Self.service(app))
                allocator.pageStarted(ticket, now: now)
            }
            now = now.advanced(by: .seconds(5))
            _ = allocator.tick(now: now)
            #expect(self.mayStart(allocator, 99), "round \(round)")
        }
    }

    /// A slot is reserved exactly where an offer of equal shares would include the service.
    @Test func aReservationIsWhatAnOfferWouldBe() {
        var generator = SeededGenerator(seed: 7)
        var allocator = SlotAllocator(.init(slots: 6, perService: 3, reserve: 2, late: 3, perSilentService: 1))
        var tickets: [SlotAllocator.Ticket] = []
        var now = self.now
        for _ in 0..<2000 {
            let service = Self.service(Int64.random(in: 1...5, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0..<3:
                let offer = allocator.offer(isShared: true)
                let ticket = allocator.reserve(service)
                #expect((ticket != nil) == (offer.limit > 0 && !offer.excluded.contains(service)))
                if let ticket {
                    allocator.pageStarted(ticket, now: now)
                    tickets.append(ticket)
                }
            case 3:
                now = now.advanced(by: .seconds(Int.random(in: 0...4, using: &generator)))
                _ = allocator.tick(now: now)
            default:
                guard let ticket = tickets.popLast() else { continue }
                _ = allocator.pageEnded(ticket, isAnswered: Bool.random(using: &generator), now: now)
                allocator.release(ticket)
            }
        }
        for ticket in tickets { allocator.release(ticket) }
        #expect(!allocator.isBusy)
    }

    /// A service is offered more only once a batch is free, and another one meanwhile.
    @Test func slotsAreOfferedInBatches() {
        var allocator = SlotAllocator(.init(slots: 16, perService: 8, batch: 4))
        let tickets = self.start(&allocator, 1, 1, 1, 1, 1, 1, 1, 1)
        for ticket in tickets.prefix(3) {
            let isWanted = allocator.release(ticket)
            #expect(!isWanted)
        }
        #expect(allocator.offer(isShared: true) == .init(limit: 8, excluded: [Self.service(1)]))
        let isWanted = allocator.release(tickets[3])
        #expect(isWanted)
        #expect(allocator.offer(isShared: true) == .init(limit: 4, excluded: []))
        for ticket in tickets { allocator.release(ticket) }
        #expect(!allocator.isBusy)
    }

    @Test func unknownTicketsAreIgnored() {
        var allocator = SlotAllocator(Self.settings)
        let ticket = allocator.acquire(Self.service(1))
        let withoutPage = allocator.pageEnded(ticket, isAnswered: true, now: self.now)
        allocator.release(ticket)
        allocator.pageStarted(ticket, now: self.now)
        let gone = allocator.pageEnded(ticket, isAnswered: true, now: self.now)
        #expect([withoutPage, gone] == [false, false])
        #expect(!allocator.isBusy)
    }
}
