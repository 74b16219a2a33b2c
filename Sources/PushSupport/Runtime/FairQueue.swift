import NIOCore

/// A queue that serves owners in turn, and the elements of one owner in the order in which they were added.
package struct FairQueue<Owner: Hashable, Element> {
    package private(set) var count = 0
    /// The owners that have elements, in the order of their turns.
    private(set) var owners = CircularBuffer<Owner>()
    private var lanes: [Owner: CircularBuffer<Element>] = [:]

    package init() {}

    package var isEmpty: Bool { self.count == 0 }

    package func count(of owner: Owner) -> Int { self.lanes[owner]?.count ?? 0 }

    package func first(of owner: Owner) -> Element? { self.lanes[owner]?.first }

    package mutating func append(_ element: Element, of owner: Owner) {
        self.count += 1
        if self.lanes[owner] == nil { self.owners.append(owner) }
        // The lane is changed in place, because thousands may wait already.
        self.lanes[owner, default: CircularBuffer()].append(element)
    }

    /// Removes and returns the first element of the owner whose turn it is, or returns `nil` if the queue is empty.
    package mutating func popFirst() -> Element? {
        guard let owner = self.owners.first else { return nil }
        return self.popFirst(of: owner)
    }

    /// Removes and returns the first element of an owner, whose turn ends, or returns `nil` if there is none.
    @discardableResult
    package mutating func popFirst(of owner: Owner) -> Element? {
        guard let element = self.lanes[owner]?.popFirst() else { return nil }
        self.count -= 1
        self.removeTurn(of: owner)
        if self.lanes[owner]?.isEmpty == true { self.lanes[owner] = nil } else { self.owners.append(owner) }
        return element
    }

    /// Removes and returns an owner's first element that meets a condition, or returns `nil` if none does. It does not
    /// end the turn of the owner.
    package mutating func removeFirst(of owner: Owner, where condition: (Element) -> Bool) -> Element? {
        // In place: a lane that is bound to a name would be copied.
        guard let index = self.lanes[owner]?.firstIndex(where: condition),
            let element = self.lanes[owner]?.remove(at: index)
        else { return nil }
        self.count -= 1
        if self.lanes[owner]?.isEmpty == true {
            self.lanes[owner] = nil
            self.removeTurn(of: owner)
        }
        return element
    }

    private mutating func removeTurn(of owner: Owner) {
        if let index = self.owners.firstIndex(of: owner) { self.owners.remove(at: index) }
    }
}

extension FairQueue: Sendable where Owner: Sendable, Element: Sendable {}
