// The page “How it works”: five figures, each a recorded run of the engine.
import { startHints } from '../shared/hints.ts';
import { blockFigure } from './block-figure.ts';
import { startFigure } from './figure.ts';
import { roundFigure } from './round-figure.ts';
import { routeFigure } from './route-figure.ts';
import { treeFigure } from './tree-figure.ts';
import { voteFigure } from './vote-figure.ts';

startHints();
startFigure('figure-round', roundFigure);
startFigure('figure-tree', treeFigure);
startFigure('figure-block', blockFigure);
startFigure('figure-vote', voteFigure);
startFigure('figure-route', routeFigure);
