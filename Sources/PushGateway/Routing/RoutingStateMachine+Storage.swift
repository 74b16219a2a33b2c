import Foundation
import PushTypes
import PushWire

/// Reads of the store for connected devices.
extension RoutingStateMachine {
    mutating func load(_ part: StoreLoad.Part, at index: Int, isWindow: Bool = false) {
        let load = StoreLoad(session: self.sessions[index].id, part: part, isWindow: isWindow)
        if self.sessions[index].loads.begin(load) { self.batch.loads.append(load) }
    }

    /// Reads messages of which some were held.
    mutating func loadHeld(_ part: StoreLoad.Part, at index: Int, isWindow: Bool = false) {
        self.sessions[index].hasHeld = false
        self.load(part, at: index, isWindow: isWindow)
    }

    /// Delivers the messages that were read, and tells the device for which of its topics there are none.
    mutating func loaded(_ loaded: LoadedMessages, isInstalled: (Message) -> Bool, _ actions: inout Actions) {
        guard let index = self.index(of: loaded.load.session) else { return }
        for channel in loaded.subscriptions where !self.sessions[index].loads.hasUnfollowed(channel) {
            self.addFollower(of: channel, at: index)
        }
        var kept: Set<TopicHash> = []
        let inFlight = self.sessions[index].unacknowledged.sequences
        for message in loaded.messages {
            if inFlight.contains(message.sequence)
                || self.offer(message, at: index, loaded.load, isInstalled: isInstalled, &actions)
            {
                kept.insert(message.topicHash)
            }
        }
        if let again = self.sessions[index].loads.end(loaded.load) { self.batch.loads.append(again) }
        guard loaded.load.part == .messages(isFirst: true) else { return }
        let empty = self.sessions[index].topics.filter { $0.interest != .ignored && !kept.contains($0.hash) }
            .map(\.hash)
        if !empty.isEmpty { actions.packets.append((self.sessions[index].id, .nothingStored(empty))) }
    }

    /// Delivers one stored message, holds it, or removes it.
    /// - Returns: Whether the store had something for its topic.
    private mutating func offer(
        _ message: Message,
        at index: Int,
        _ load: StoreLoad,
        isInstalled: (Message) -> Bool,
        _ actions: inout Actions
    ) -> Bool {
        if self.sessions[index].loads.hasAcknowledged(message) { return true }
        if let channel = message.channel, self.sessions[index].loads.hasUnfollowed(channel) { return false }
        if message.isExpired(at: actions.now) {
            self.remove(message, .expired, &actions)
            return false
        }
        if message.channel == nil {
            if !isInstalled(message) {
                self.remove(message, .unregisteredFromStorage, &actions)
                return false
            }
            if self.sessions[index].loads.hasReceivedNewer(than: message) {
                self.remove(message, .replaced, &actions)
                return true
            }
        }
        switch self.power.decision(for: message, self.sessions[index], now: actions.now, isWindow: load.isWindow) {
        case .deliver where self.hasRoom(for: message, at: index):
            self.send(message, nil, at: index, isFromStorage: true, &actions)
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard:
            self.remove(message, .disabledFromStorage, &actions)
            return false
        }
        return true
    }

    private mutating func remove(_ message: Message, _ name: Event.Name, _ actions: inout Actions) {
        if message.channel == nil { self.batch.changes.append(.remove(message)) }
        self.log(name, message, &actions)
    }
}
