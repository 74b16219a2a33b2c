import Foundation
import PushTypes
import PushWire

/// Reading from the store for a device that is connected.
extension RoutingMachine {
    mutating func load(
        _ part: StoreLoad.Part,
        at index: Int,
        _ device: UUID,
        isWindow: Bool = false
    ) {
        var load = StoreLoad(device: device, session: self.sessions[index].id, part: part, isWindow: isWindow)
        if case .messages(let isFirst) = part {
            // However often a device asks, the store is read for it once at a time, and once more after that.
            guard !self.sessions[index].isLoadingMessages else {
                let again = self.sessions[index].loadsAgain
                load.part = .messages(isFirst: isFirst || again?.part == .messages(isFirst: true))
                load.isWindow = isWindow || again?.isWindow ?? false
                return self.sessions[index].loadsAgain = load
            }
            self.sessions[index].isLoadingMessages = true
        }
        self.sessions[index].loads += 1
        self.batch.loads.append(load)
    }

    /// Delivers what was read, and says for which of the device's topics nothing was.
    mutating func loaded(
        _ loaded: LoadedMessages,
        isInstalled: (Message) -> Bool,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let index = self.index(loaded.load.device, loaded.load.session) else { return }
        self.sessions[index].loads -= 1
        for channel in loaded.subscriptions where !self.sessions[index].unfollowed.contains(channel) {
            self.follow(channel, at: index, loaded.load.device)
        }
        var kept: Set<TopicHash> = []
        let onTheirWay = self.sessions[index].unacknowledged.sequences
        for message in loaded.messages {
            if onTheirWay.contains(message.sequence) {
                kept.insert(message.topicHash)
            } else if self.offer(message, at: index, loaded.load, isInstalled: isInstalled, now: now, &effects) {
                kept.insert(message.topicHash)
            }
        }
        self.readAgain(after: loaded.load, at: index)
        guard loaded.load.part == .messages(isFirst: true) else { return }
        let session = self.sessions[index]
        let nothing = session.topics.filter { $0.interest != .ignored && !kept.contains($0.hash) }.map(\.hash)
        if !nothing.isEmpty { effects.packets.append((session.link, .nothingStored(nothing))) }
    }

    /// A read has come back: what was asked for meanwhile is read now.
    private mutating func readAgain(after load: StoreLoad, at index: Int) {
        if case .messages = load.part {
            self.sessions[index].isLoadingMessages = false
            if let again = self.sessions[index].loadsAgain {
                self.sessions[index].loadsAgain = nil
                self.load(again.part, at: index, load.device, isWindow: again.isWindow)
            }
        }
        guard !self.sessions[index].isLoading else { return }
        self.sessions[index].newest = [:]
        self.sessions[index].acknowledgedMeanwhile = []
        self.sessions[index].unfollowed = []
    }

    /// Delivers one stored message, or lets it wait, or drops it. Whether there was something for its topic.
    private mutating func offer(
        _ message: Message,
        at index: Int,
        _ load: StoreLoad,
        isInstalled: (Message) -> Bool,
        now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        if self.sessions[index].acknowledgedMeanwhile.contains(message.sequence) { return true }
        if let channel = message.channel, self.sessions[index].unfollowed.contains(channel) { return false }
        if message.isExpired(at: now) { return self.drop(message, .expired, now, &effects) }
        if message.channel == nil {
            if !isInstalled(message) { return self.drop(message, .unregisteredFromStorage, now, &effects) }
            if let newest = self.sessions[index].newest[message.topicHash], newest > message.sequence {
                _ = self.drop(message, .replaced, now, &effects)
                return true
            }
        }
        switch self.power.verdict(on: message, for: self.sessions[index], now: now, isWindow: load.isWindow) {
        case .deliver where self.hasRoom(for: message, at: index):
            self.launch(message, nil, at: index, isFromStorage: true, now: now, &effects)
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard: return self.drop(message, .disabledFromStorage, now, &effects)
        }
        return true
    }

    private mutating func drop(
        _ message: Message,
        _ name: Event.Name,
        _ now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        if message.channel == nil { self.batch.changes.append(.remove(message)) }
        effects.events.append(self.event(name, message, now))
        return false
    }
}
